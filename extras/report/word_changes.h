// The words that a diff by words marks as added.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct WordRun {
  std::string text;  ///< with the space behind it
  bool changed = false;
  bool operator==(const WordRun&) const = default;
};

/// Divides `now` into runs of words that `before` also has in the same order (a longest common
/// subsequence), and runs of words that it lacks. The texts of the runs make up `now`. Words end at
/// white space; a character of a script that writes without spaces (is_unspaced: Han, kana, Thai
/// and others) is a word by itself, with the marks behind it. Valid UTF-8.
std::vector<WordRun> word_changes(std::string_view before, std::string_view now);

/// `now` as HTML, with the words that `before` lacks in <mark>.
std::string marked_changes(std::string_view before, std::string_view now);

}  // namespace dragoman
