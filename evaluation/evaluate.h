// Lines in memory to scores with names: what `dragoman evaluate` prints and training validates by.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/evaluate_config.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

struct NamedScore {
  std::string name;  ///< as sacreBLEU writes it: "BLEU", "chrF2", "chrF2++"
  double score = 0;  ///< 0 to 100
  std::string signature;
  std::string details;    ///< BLEU's precisions and lengths; empty for chrF
  std::int64_t line = 0;  ///< from 1; 0 for the corpus
};

/// The corpus's score for each metric, or with `sentence_level` those of line 1, of line 2, ...
/// `version` ends the signatures. Errors: as check_line_counts. The configuration must be valid.
std::vector<NamedScore> evaluate_lines(std::span<const std::string> hypotheses,
                                       const References& references, const EvaluateConfig& config,
                                       std::string_view version);

}  // namespace dragoman
