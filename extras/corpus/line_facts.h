// What one look at a line of text shows: its letters and their scripts, broken characters, markup,
// numbers and links.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/trained_pairs.h"

namespace dragoman {

struct LineFacts {
  std::int64_t characters = 0;
  std::int64_t letters = 0, capitals = 0, small_letters = 0;
  std::int64_t menu_separators = 0;  ///< "|", "»" and the like between items
  Script script = 0;                 ///< that of most letters; 0 if there are fewer than three
  bool has_mixed_word = false;       ///< Latin, Greek or Cyrillic letters in one word
  bool has_lost_character = false;   ///< U+FFFD, or a question mark within a word
  bool has_mojibake = false;
  bool has_control = false;  ///< a control character other than the tab, or one of private use
  bool has_markup = false;
  /// The digits of each number, without separators and without zeros at its ends, sorted: 3.50 and
  /// 3,5 are "35".
  std::vector<std::string> numbers;
  std::string digits;              ///< all digits but zeros, in order
  std::vector<std::string> links;  ///< the hosts of links and of mail addresses, sorted
};

/// The line must be valid UTF-8.
LineFacts facts_of_line(std::string_view line);

}  // namespace dragoman
