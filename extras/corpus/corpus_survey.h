// Looks at a parallel text, pair by pair and as a whole, and says which faults each pair has.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/parallel_text.h"
#include "extras/corpus/pair_checks.h"
#include "extras/corpus/pair_faults.h"
#include "extras/corpus/shifted_stretches.h"

namespace dragoman {

/// For each pair the number of an earlier pair, or of a pair of another text; kNoPair for none.
using OtherPairs = std::vector<std::int64_t>;
inline constexpr std::int64_t kNoPair = -1;

struct CorpusSurvey {
  UsualPair usual;
  std::vector<FaultSet> faults = {};           ///< [pairs]
  OtherPairs copy_of = {};                     ///< for PairFault::Copy and NearCopy
  std::array<OtherPairs, 2> repeats = {};      ///< for RepeatedSource, RepeatedTarget
  OtherPairs leak_of = {};                     ///< for Leak: pairs of the held-out text
  std::vector<ShiftedStretch> stretches = {};  ///< for Shifted

  std::array<std::int64_t, kPairFaults> counts() const;
};

/// Whether a word aligner learns from the text and judges its pairs (PairFault::Misaligned). That
/// takes longer than all other checks together. From fewer than 2,000 pairs nothing is learned.
enum class WordAlignment { Learned, LeftOut };

struct SurveySettings {
  std::array<std::string, 2> languages = {};  ///< of the sides, if they are known; or ""
  CorpusFilters filters = {};
  WordAlignment alignment = WordAlignment::Learned;
};

/// Takes about 500 bytes for each pair. The result is the same for each number of threads. The
/// pairs of `held_out`, validation and test texts, should not be in the text; null: there are none.
/// Throws PreparationStopped.
CorpusSurvey survey_corpus(const ParallelText& text, const ParallelText* held_out,
                           const SurveySettings& settings, const WorkContext& context);

}  // namespace dragoman
