// A look at the pairs that are trained on, as text: the shares of those that may not be meant for
// training, and the filter of their hashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/blocks.h"
#include "data/corpus.h"
#include "data/parallel_text.h"
#include "data/trained_pairs.h"

namespace dragoman {

/// Pairs of one kind.
struct PairsFound {
  std::int64_t pairs = 0;
  std::vector<std::int64_t> lines = {};  ///< the first of them, kListedLines at most, from 1

  bool operator==(const PairsFound&) const = default;
};

struct TextSurvey {
  std::int64_t pairs = 0;  ///< in all
  PairsFound copies = {};  ///< both sides are the same text
  /// Most letters of the side are in another script than those of most of its lines.
  PairsFound other_script_source = {}, other_script_target = {};
  /// The ratio of the sides' characters is more than 2.5 times the usual one, or less than
  /// 1 / 2.5 of it; one side has 20 characters or more.
  PairsFound odd_length = {};
  /// The side is that of an earlier pair, the other is not.
  PairsFound repeated_source = {}, repeated_target = {};

  bool operator==(const TextSurvey&) const = default;
};

struct SurveyedText {
  TextSurvey survey;
  HashFilter trained;  ///< likeness_hash() of the pairs
};

/// Surveys the corpus' pairs in their text. Throws PreparationStopped.
SurveyedText survey_text(const ParallelText& text, const Corpus& corpus,
                         const WorkContext& context);

/// The two as bytes, with a checksum.
std::string to_bytes(const SurveyedText& surveyed);
/// Throws Error that begins with `name` for other bytes.
SurveyedText surveyed_from_bytes(std::string_view bytes, const std::string& name);

}  // namespace dragoman
