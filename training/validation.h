// Validation: the loss of the validation pairs, and the scores of their translations.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "data/batch_stream.h"
#include "data/prepare.h"
#include "training/train_config.h"
#include "training/training_model.h"

namespace dragoman {

struct ValidationResult {
  double loss = 0;        ///< negative log-likelihood per target piece, </s> included, no smoothing
  double perplexity = 0;  ///< exp(loss)
  double bleu = 0;        ///< 13a, cased
  double chrf = 0;
  double seconds = 0;
  std::vector<std::string> translations;  ///< of all validation lines

  double value(BestMetric metric) const;
};

/// Whether a value of the metric is better than another: a lower loss, a higher score.
bool is_better(BestMetric metric, double value, double than);

class Validator {
 public:
  /// The data must outlive the validator.
  Validator(const PreparedData& data, const TrainConfig& config);

  const ValidSet& set() const { return data_.valid; }
  bool empty() const { return data_.valid.source_lines.empty(); }
  /// Scores `weights`, flat like the model's. With a stop requested meanwhile the result has no
  /// scores and must not be used.
  ValidationResult run(TrainingModel& model, const torch::Tensor& weights,
                       std::stop_token stop) const;

 private:
  const PreparedData& data_;
  std::int64_t beam_size_;
  std::vector<PackedBatch> batches_;
};

}  // namespace dragoman
