// Validation: the loss of the validation pairs, and the scores of their translations.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/batch_stream.h"
#include "data/prepare.h"
#include "training/attention_recorder.h"
#include "training/train_config.h"
#include "training/training_model.h"

namespace dragoman {

/// The loss on the validation text is not finite: training has diverged, or the model that it began
/// with was damaged.
class LossNotFinite : public Error {
 public:
  using Error::Error;
};

struct ValidationScore {
  double value = 0;  ///< of --best-metric
  double loss = 0;
};

struct ValidationResult {
  double loss = 0;        ///< negative log-likelihood per target piece, </s> included, no smoothing
  double perplexity = 0;  ///< exp(loss)
  double bleu = 0;        ///< 13a; cased, unless the tokenizer lower-cases (--lowercase)
  double chrf = 0;
  /// Standard errors of BLEU and chrF by bootstrap over the validation lines: the change that other
  /// lines would make.
  double bleu_error = 0, chrf_error = 0;
  std::int64_t fewer_rows = 0;  ///< that translations had at last, if memory had run out; else 0
  double seconds = 0;
  std::vector<std::string> translations;  ///< of all validation lines
  RecordedAttention attention;            ///< of one pair; empty where none is short enough

  double value(BestMetric metric) const;
  double standard_error(BestMetric metric) const;  ///< 0 for the loss, where it is not computed
  ValidationScore score(BestMetric metric) const { return {value(metric), loss}; }
};

/// The order of a run's models. A BLEU or chrF below the floor counts as 0, as it comes from a few
/// words or characters that match by chance.
struct ScoreOrder {
  BestMetric metric;
  double floor = 0;

  double value_to_compare(double value) const { return value < floor ? 0 : value; }
};
inline constexpr double kBleuFloor = 1, kChrfFloor = 5;
/// `chrf_floor`: ProgressRecord::chrf_floor.
ScoreOrder score_order(BestMetric metric, double chrf_floor);

/// Whether one score is better: a lower loss, or a higher BLEU or chrF to compare. Of scores that
/// are the same to two decimals, as shown, the one with the lower loss is better.
bool is_better(const ScoreOrder& order, const ValidationScore& score, const ValidationScore& than);

/// Whether `value` is worse than `from` by more than `tolerance` percent.
bool has_fallen(BestMetric metric, double value, double from, double tolerance);

class Validator {
 public:
  /// `set` is one of the data's validation sets. Both must outlive the validator.
  Validator(const PreparedData& data, const ValidSet& set, const TrainConfig& config);

  const ValidSet& set() const { return set_; }
  bool empty() const { return set_.source_lines.empty(); }
  /// Throws Error where a pair needs more memory than there is. `text` names the set.
  void require_memory(TrainingModel& model, std::string_view text) const;
  /// Scores `weights`, a flat buffer like the model's. If a stop was requested meanwhile, the
  /// result has no scores and must not be used. Throws LossNotFinite.
  ValidationResult run(TrainingModel& model, const torch::Tensor& weights,
                       std::stop_token stop) const;

 private:
  const PreparedData& data_;
  const ValidSet& set_;
  std::int64_t beam_size_;
  std::vector<PackedBatch> batches_;
  AttentionRecorder recorder_;
};

}  // namespace dragoman
