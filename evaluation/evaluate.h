// Scores lines in memory: the scores that `dragoman evaluate` prints and that training validates
// with.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/evaluate_config.h"
#include "evaluation/line_statistics.h"
#include "evaluation/significance.h"

namespace dragoman {

struct NamedScore : SystemScore {
  std::string name;  ///< as in Metric
  std::string signature;
  std::string details;    ///< BLEU's precisions and lengths; empty for the others
  std::int64_t line = 0;  ///< from 1; 0 for the corpus
};

/// The corpus's score for each metric, with its interval where config.confidence asks for it. With
/// `sentence_level`, the scores of line 1, of line 2, ... instead. `version` ends the signatures.
/// Errors: as check_line_counts. The configuration must be valid. Empty where `stop` is requested.
std::vector<NamedScore> evaluate_lines(const std::vector<std::string>& hypotheses,
                                       const References& references, const EvaluateConfig& config,
                                       std::string_view version, const std::stop_token& stop = {});

/// The scores of several systems.
struct Comparison {
  std::vector<std::string> systems;
  std::vector<std::string> metrics, signatures;
  ScoreTable scores;    ///< [metric][system]
  bool paired = false;  ///< the first system is the baseline of p-values
  /// [system] whether it has no p-value as its lines are the baseline's, byte for byte. Empty
  /// unless paired.
  std::vector<bool> same_output = {};
};

/// Counts the lines of all systems for each metric. `hypotheses`: [system][line]. Ends early when
/// `stop` is requested; the result is not to be used then.
std::vector<SystemCounts> count_systems(const std::vector<std::vector<std::string>>& hypotheses,
                                        const References& references, const EvaluateConfig& config,
                                        std::string_view version, const std::stop_token& stop = {});

/// Scores the systems, with the intervals and p-values that the configuration asks for. Ends early
/// when `stop` is requested; the result is not to be used then.
Comparison compare(const std::vector<std::string>& names, const std::vector<SystemCounts>& counts,
                   const EvaluateConfig& config, const std::stop_token& stop = {});

}  // namespace dragoman
