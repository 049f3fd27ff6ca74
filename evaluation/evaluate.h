// Scores lines in memory, and writes the scores as text for people, for programs and for documents.
// `dragoman evaluate` prints them, and training validates with them.
#pragma once

#include <cstdint>
#include <span>
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

/// The corpus's score for each metric, with its interval if config.confidence asks for it. With
/// `sentence_level`, the scores of line 1, of line 2, ... instead. `version` ends the signatures.
/// Errors: as count_lines(). The configuration must be valid. Empty if `stop` is requested.
std::vector<NamedScore> evaluate_lines(const std::vector<std::string>& hypotheses,
                                       const References& references, const EvaluateConfig& config,
                                       std::string_view version, const std::stop_token& stop = {});

/// The scores of several systems.
struct Comparison {
  std::vector<std::string> systems;
  std::vector<std::string> metrics = {}, signatures = {};
  ScoreTable scores = {};  ///< [metric][system]
  bool paired = false;     ///< the first system is the baseline of p-values
  /// [system] whether it has no p-value because its lines are the baseline's, byte for byte. Empty
  /// unless paired.
  std::vector<bool> same_output = {};
};

/// Counts the lines of all systems for each metric. `hypotheses`: [system][line]. Ends early if
/// `stop` is requested; the result is of no use then.
std::vector<SystemCounts> count_systems(const std::vector<std::vector<std::string>>& hypotheses,
                                        const References& references, const EvaluateConfig& config,
                                        std::string_view version, const std::stop_token& stop = {});

/// Scores the systems, with the intervals and p-values that the configuration asks for. Ends early
/// if `stop` is requested; the result is of no use then.
Comparison compare(const std::vector<std::string>& names, const std::vector<SystemCounts>& counts,
                   const EvaluateConfig& config, const std::stop_token& stop = {});

/// The scores of a system. Every line ends with a newline. Text: sacreBLEU's lines,
/// "BLEU|SIGNATURE = 26.33 DETAILS", with aligned equals signs. JSON: a list of objects with
/// sacreBLEU's keys; the score is rounded to `width` decimals, and each item of the signature is a
/// key. Markdown and LaTeX (booktabs): a table. The score of a single line also has the line's
/// number; in text the signatures of such scores stand once, at the end.
std::string report(std::span<const NamedScore> scores, ReportFormat format, int width);

/// A table with a row for each system and a column for each metric, and then the signatures. Cells
/// have intervals and p-values if they were computed. The baseline is marked, and p-values up to
/// 0.05 have a star. JSON: a list of objects with sacreBLEU's keys.
std::string report(const Comparison& comparison, ReportFormat format, int width);

}  // namespace dragoman
