// Words in fragments: letters, digits, or signs. "(Haus)," has four: "(", "Haus", ")" and ",".
// Tags may stand between them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "extras/markup/byte_range.h"

namespace dragoman {

struct WordFragment {
  ByteRange place;   ///< in the text
  std::size_t word;  ///< its number among the words
  bool has_letters;  ///< letters, digits and marks; otherwise signs
};

/// A sign is a fragment by itself, and so is a character of a script without spaces, as Chinese has
/// it. A word has up to 32 fragments. `words` and `cuts` are in their order; at each of `cuts`, an
/// offset, a fragment ends. The text is valid UTF-8.
std::vector<WordFragment> fragments_of(std::string_view text, std::span<const ByteRange> words,
                                       std::span<const std::size_t> cuts = {});

}  // namespace dragoman
