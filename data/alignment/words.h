// The words of a line as word alignment counts them, and numbers for words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/utf8.h"

namespace dragoman {

/// The words of a line, which stand between spaces, tabs and other ASCII white space: a file of
/// links counts these; words_between_spaces() knows all white space of Unicode.
std::vector<ByteRange> word_places(std::string_view line);

using WordId = std::uint32_t;
inline constexpr WordId kUnknownWord = 0;

/// A line as an aligner reads it. Case and variants of characters make no difference. A word
/// between white space is read as the runs of letters and digits in it, or, if it has none, as its
/// characters. So "well-known," is read as "well" and "known", and "..." as three full stops.
struct NumberedLine {
  std::vector<WordId> ids;
  std::vector<std::uint32_t> words;  ///< for each id, the number of the word that it is part of
};

/// Numbers from 1 for the words of a side.
class WordNumbers {
 public:
  /// Gives numbers to words that have none. The line must be valid UTF-8, here and below.
  NumberedLine add(std::string_view line);
  /// Words without a number are kUnknownWord.
  NumberedLine find(std::string_view line) const;

  /// The text of a number below size().
  const std::string& text(WordId id) const { return *texts_[id]; }
  std::size_t size() const { return texts_.size(); }  ///< kUnknownWord counts

 private:
  std::unordered_map<std::string, WordId, TextHash<char>, std::equal_to<>> ids_;
  const std::string unknown_;
  std::vector<const std::string*> texts_{&unknown_};  ///< keys of ids_
};

}  // namespace dragoman
