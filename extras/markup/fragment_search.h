// Finds a text in another one, where a fragment begins.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "extras/markup/word_fragments.h"

namespace dragoman {

class FragmentSearch {
 public:
  /// Searches at `places` alone: numbers of fragments of `text`. Both must outlive the search.
  FragmentSearch(std::string_view text, const std::vector<WordFragment>& fragments,
                 std::vector<std::size_t> places);

  /// All places where `wanted` stands, ascending. Takes the time of a few comparisons and of
  /// sorting the places that begin with the first kCompared bytes of `wanted`.
  std::vector<std::size_t> places_of(std::string_view wanted) const;

  static constexpr std::size_t kCompared = 256;

 private:
  /// At most `size` bytes.
  std::string_view text_at(std::size_t place, std::size_t size) const;

  const std::string_view text_;
  const std::vector<WordFragment>& fragments_;
  std::vector<std::size_t> sorted_;  // by the first kCompared bytes of their text
};

}  // namespace dragoman
