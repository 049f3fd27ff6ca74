// A metric with its options, for comparisons of systems: a function that counts lines, and one that
// makes a score of a sum of counts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/evaluate_config.h"
#include "evaluation/line_statistics.h"

namespace dragoman {

/// A part of a score, with a name for people: "2-grams found, %".
struct ScorePart {
  enum class Kind { Precision, Count, Factor };

  std::string name;
  double value;
  Kind kind;
};

struct Metric {
  std::string
      name;  ///< as sacreBLEU writes it: "BLEU", "chrF2", "chrF2++", "TER"; "tokenized BLEU"
  std::string signature;  ///< sacreBLEU's
  bool lower_is_better = false;
  std::function<LineStatistics(std::span<const std::string> hypotheses,
                               const References& references)>
      count;
  std::function<double(std::span<const double> sum)> score;
  std::function<std::string(std::span<const double> sum)> details;           ///< empty text: none
  std::function<std::vector<ScorePart>(std::span<const double> sum)> parts;  ///< perhaps none
  /// The score of a resampled corpus, whose sums are in float, with sacreBLEU's roundings.
  std::function<double(std::span<const float> sum)> resampled_score;
  bool scores_are_float = false;  ///< sacreBLEU keeps resampled scores as float, too
};

/// The metrics in the order of config.metrics. `references` has a line or more; `version` ends the
/// signatures. The configuration must be valid. Errors: those of tokenization_of.
std::vector<Metric> metrics_of(const EvaluateConfig& config, const References& references,
                               std::string_view version);

}  // namespace dragoman
