// Links between the words of a pair, in Pharaoh format ("0-0 1-2"), and one set of them from those
// of the two directions (Och and Ney 2003, section 4; Koehn, Och and Marcu 2003;
// grow-diag-final-and as Moses defines it).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// Words are counted from 0.
struct WordLink {
  std::int64_t source, target;

  auto operator<=>(const WordLink&) const = default;
};

/// The links of a line, in its order. Throws Error naming the word of the line that is not a link.
std::vector<WordLink> parse_links(std::string_view line);
std::string pharaoh_text(std::span<const WordLink> links);

/// Which links of the two directions a pair gets.
enum class Symmetrization {
  GrowDiagFinalAnd,  ///< the intersection, grown by neighbours and by words without a link
  GrowDiag,          ///< the intersection, grown by neighbours
  Intersection,
  Union,
  Forward,   ///< each target word has at most one link
  Backward,  ///< each source word has at most one link
};
constexpr std::array<std::string_view, 6> names_of(Symmetrization) {
  return {"grow-diag-final-and", "grow-diag", "intersection", "union", "forward", "backward"};
}

/// The links in order, each once. The links that are given may be in any order.
std::vector<WordLink> symmetrised(std::vector<WordLink> forward, std::vector<WordLink> backward,
                                  Symmetrization how);

}  // namespace dragoman
