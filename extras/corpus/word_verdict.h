// What a word aligner that learns from the text itself says about its pairs: which of them do not
// translate each other, and where targets stand some lines too early or too late.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/parallel_text.h"
#include "extras/corpus/pair_faults.h"
#include "extras/corpus/shifted_stretches.h"

namespace dragoman {

/// From fewer pairs nothing is learned.
inline constexpr std::int64_t kFewToLearnFrom = 2000;

struct WordVerdict {
  std::vector<bool> misaligned;           ///< [pairs]
  std::vector<ShiftedStretch> stretches;  ///< of the pairs of all files
};

/// `faults` are those that the pairs are known to have; invalid and empty ones are not judged.
/// `by_length` are stretches that the lengths of the lines show: these, and stretches of pairs that
/// do not translate each other, are searched for shifts. Nothing if there is too little to learn
/// from, or a side writes no spaces between words. Throws PreparationStopped.
std::optional<WordVerdict> judge_by_words(const ParallelText& text,
                                          const std::vector<FaultSet>& faults,
                                          const std::vector<ShiftedStretch>& by_length,
                                          const CorpusFilters& filters, const WorkContext& context);

}  // namespace dragoman
