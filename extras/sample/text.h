// The smallest pieces of the sample corpus: a text in both languages, and how words become a
// sentence.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace dragoman {

/// The same meaning in both languages.
struct Phrase {
  std::string english, german;
  bool empty() const { return english.empty(); }
};

/// The non-empty words with one space between them.
std::string join_words(std::initializer_list<std::string_view> words);

/// First letter in upper case (ASCII, ä, ö, ü); one comma where clauses put several, none before
/// the closing mark, which is added.
std::string sentence_of(std::string_view words, char closing_mark);

}  // namespace dragoman
