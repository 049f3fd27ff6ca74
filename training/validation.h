// Validation: the loss of the validation pairs, the scores of their translations, and the order of
// models by these scores. There are two texts: that of --valid-src, which decides, and that of
// --keep-valid-src, on which the model must not get much worse. The cross-attention of one pair is
// recorded, for pictures of how the model comes to know which words belong together. If there are
// several training files, some pairs of each show what the model has learned from it.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/batch_stream.h"
#include "data/prepare.h"
#include "inference/search/engine.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer.h"
#include "training/settings/progress_record.h"
#include "training/settings/stopping.h"
#include "training/settings/train_config.h"
#include "training/training_model.h"

namespace dragoman {

/// The loss on the validation text is not finite: training has diverged, or the model that it began
/// with was damaged.
class LossNotFinite : public Error {
 public:
  using Error::Error;
};

/// The cross-attention of a pair.
struct RecordedAttention {
  std::vector<std::string> source, target;  ///< pieces, with </s>
  /// [target, source], the mean of the heads of the layer that AttentionHeads takes. Row t is of
  /// the position that predicts target piece t. Each row sums to 1.
  std::vector<float> weights = {};

  bool empty() const { return weights.empty(); }
};

struct ValidationScore {
  double value = 0;  ///< of --best-metric
  double loss = 0;
};

/// The scores of a validation text, of one of several, or their means.
struct TextScores {
  std::string name = {};  ///< of one of several, or kMeanOfTexts
  double bleu = 0;        ///< 13a; cased, unless the tokenizer lower-cases (--lowercase)
  double chrf = 0;
  /// Standard errors of BLEU and chrF by bootstrap over the validation lines: the change that other
  /// lines would make.
  double bleu_error = 0, chrf_error = 0;
};

/// The means of the scores of texts whose lines have nothing to do with each other.
TextScores mean_of(const std::vector<TextScores>& parts);

/// The scores are those of all lines as one text.
struct ValidationResult : TextScores {
  double loss = 0;        ///< negative log-likelihood per target piece, </s> included, no smoothing
  double perplexity = 0;  ///< exp(loss)
  std::vector<TextScores> parts = {};       ///< of several validation texts; else empty
  std::optional<TextScores> deciding = {};  ///< of --best-valid; the whole text if it is not set
  std::int64_t fewer_rows = 0;  ///< that translations had in the end, if memory had run out; else 0
  double seconds = 0;
  std::vector<std::string> translations;  ///< of all validation lines
  RecordedAttention attention;            ///< of one pair; empty if none is short enough

  /// The metric on the text that decides; the loss is always that of all texts together.
  double value(BestMetric metric) const;
  double standard_error(BestMetric metric) const;  ///< 0 for the loss, which has none
  ValidationScore score(BestMetric metric) const { return {value(metric), loss}; }
  const TextScores& decisive() const { return deciding ? *deciding : *this; }
};

/// Whether one score is better: a lower loss, or a higher BLEU or chrF. If both are the same to two
/// decimals, as shown, the one with the lower loss is better. A BLEU below 1 or a chrF below 5
/// counts as 0, because it comes from a few words or characters that match by chance.
bool is_better(BestMetric metric, const ValidationScore& score, const ValidationScore& than);

/// Whether `value` is worse than `from` by more than `tolerance` percent.
bool has_fallen(BestMetric metric, double value, double from, double tolerance);

/// The loss of some training pairs of one file.
struct CorpusLoss {
  std::string name;  ///< of the file of the source
  double loss = 0;   ///< as that of a ValidationResult
};

/// The scores of weights on both validation texts.
struct Scores {
  ValidationResult valid;
  std::vector<CorpusLoss> corpora = {};       ///< of several training files; else empty
  std::optional<ValidationResult> keep = {};  ///< none without --keep-valid-src
  bool keep_has_fallen = false;               ///< by more than --keep-tolerance since update 0

  double seconds() const;  ///< of both
  /// Whether the best model so far is to give way to one with these scores.
  bool beat(const BestModel& best, BestMetric metric) const;
  /// As --patience compares them.
  PatienceScore for_patience(BestMetric metric) const;
};

/// Records the cross-attention of one validation pair at each validation.
class AttentionRecorder {
 public:
  static constexpr std::size_t kMostPieces = 20;  ///< of each side, with </s>

  /// Chooses the longest pair of at most kMostPieces, among the first 1,000. If all are too long or
  /// empty, nothing is recorded.
  AttentionRecorder(const TokenizerPair& tokenizers, const std::vector<std::string>& source,
                    const std::vector<std::string>& target);

  /// The model's attention while it reads the pair's target; nothing if it has too few positions.
  /// The engine serves no scheduler.
  RecordedAttention record(Engine& engine) const;

 private:
  std::vector<TokenId> source_tokens_, target_tokens_;  // empty: no pair fits
  std::vector<std::string> source_, target_;            // their pieces
};

/// The loss of each training file, without dropout or smoothing: of up to 256 of its pairs, evenly
/// spaced, the same at each validation. Nothing if there is one file only.
class CorpusLosses {
 public:
  explicit CorpusLosses(const PreparedData& data);

  /// Of `weights`, a flat buffer like the model's.
  std::vector<CorpusLoss> run(TrainingModel& model, const torch::Tensor& weights) const;

 private:
  struct Sample {
    std::string name;
    std::vector<PackedBatch> batches;
  };
  std::vector<Sample> samples_;
};

class Validator {
 public:
  /// `set` is one of the data's validation sets. Both must outlive the validator. `record` is that
  /// of the run's model files, so lines are translated as they are with these.
  Validator(const PreparedData& data, const ValidSet& set, const TrainConfig& config,
            const TextRecord& record);

  const ValidSet& set() const { return set_; }
  bool empty() const { return set_.source_lines.empty(); }
  /// Throws Error if a pair needs more memory than there is. `text` names the set.
  void require_memory(TrainingModel& model, std::string_view text) const;
  /// Scores `weights`, a flat buffer like the model's. If a stop was requested meanwhile, the
  /// result has no scores and must not be used. Throws LossNotFinite.
  ValidationResult run(TrainingModel& model, const torch::Tensor& weights,
                       std::stop_token stop) const;

 private:
  void score(ValidationResult& result) const;

  const PreparedData& data_;
  const ValidSet& set_;
  const TextRecord record_;
  const std::string deciding_;  ///< TrainConfig::best_valid
  std::int64_t beam_size_;
  std::vector<PackedBatch> batches_;
  AttentionRecorder recorder_;
};

}  // namespace dragoman
