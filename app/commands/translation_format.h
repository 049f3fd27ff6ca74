// The written form of a translation: plain text, with fields behind " ||| " as in Marian.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/translation.h"

namespace dragoman {

/// Word alignment in Pharaoh format.
enum class AlignmentFormat {
  None,
  Hard,  ///< "0-0 1-2": for each target word the source word with most attention
  Soft,  ///< for each target word its attention to all source words: "0.9,0.1 0.2,0.8"
};
constexpr std::array<std::string_view, 3> names_of(AlignmentFormat) {
  return {"none", "hard", "soft"};
}

/// For each target word that has attention, (source, target) with the source word of most
/// attention.
std::vector<std::pair<std::int64_t, std::int64_t>> hard_alignment(
    const std::vector<TranslatedWord>& words);

struct TranslationFormat {
  bool all = false;  ///< all of the n best
  bool scores = false;
  bool word_scores = false;
  AlignmentFormat alignment = AlignmentFormat::None;

  /// The line of output, or with `all` a line for each of the n best.
  std::vector<std::string> lines(const Translation& translation) const;
};

}  // namespace dragoman
