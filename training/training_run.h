// What a Trainer is given (TrainingRun), and what it reports: to the program (TrainingObserver) and
// to the log of the run (training/run_log.h).
#pragma once

#include <torch/types.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "model/file/model_config.h"
#include "model/file/model_file.h"
#include "model/file/run_folder.h"
#include "training/settings/progress_record.h"
#include "training/settings/stopping.h"
#include "training/settings/train_config.h"
#include "training/validation.h"

namespace dragoman {

/// What every model file of a run has besides the weights.
struct ModelAttachments {
  std::string tokenizer_source = {}, tokenizer_target = {};  ///< bytes; target empty: the same
  Provenance provenance = {};
  DecodeDefaults decode_defaults = {};  ///< those of the model of --init-from
};

/// Settings, data, device and folder of a training.
struct TrainingRun {
  TrainConfig config;
  ModelConfig model;
  Precision precision;  ///< not Auto
  torch::Device device;
  RunFolder folder;
  ModelAttachments attachments;
  const PreparedData& data;  ///< outlives the run
  int threads;               ///< on the CPU
  /// The most updates that are given to the device before the host reads their results.
  std::size_t updates_ahead = 1;
  StartRecord start;  ///< for the progress record
};

// ---- events -------------------------------------------------------------------------------------

/// The updates since the last line of the log.
struct IntervalMeans {
  double loss = 0;        ///< smoothed, per target piece
  double perplexity = 0;  ///< of the training batches, with dropout, without smoothing
  std::optional<double> alignment_loss = {};  ///< of guided alignment, per linked target piece
  double gradient_norm = 0;
  double source_tokens_per_second = 0, target_tokens_per_second = 0;
  double data_wait = 0;  ///< fraction of the time spent waiting for batches
};

/// A line of the log.
struct UpdateFacts {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t update = 0;
  std::int64_t stage = 0;    ///< from 1; 0: the run has only one
  IntervalMeans means = {};  ///< over the updates since the last line
  double learning_rate = 0;
  std::int64_t target_tokens = 0;  ///< seen since the run began
  double elapsed = 0;              ///< seconds of training and validation, over all starts
  Outlook outlook = {};
};

struct TranslatedSample {
  std::string source, translation, reference;
};

struct ValidationFacts {
  std::int64_t update = 0;  ///< 0: the model of --init-from, before the first update
  const Scores& scores;     ///< valid during the call alone
  bool new_best = false;
  std::int64_t without_gain = 0;   ///< validations, for --patience
  std::int64_t target_tokens = 0;  ///< as above
  double elapsed = 0;
  std::vector<TranslatedSample> samples = {};
};

/// The average of the last checkpoints, at the end of a run or when it is stopped.
struct AverageFacts {
  std::size_t checkpoints = 0;
  const ValidationResult& result;  ///< valid during the call alone
  bool kept = false;               ///< as the run's model
};

/// An update that was not made, because its loss or gradient was not to be trusted.
struct LeftOutFacts {
  std::int64_t update = 0;
  double loss = 0, gradient_norm = 0;
  std::vector<std::int64_t> lines = {};  ///< of the training text, from 1

  bool is_finite() const { return std::isfinite(loss) && std::isfinite(gradient_norm); }
};

/// Shows nothing by itself.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  /// After each update. The outlook assumes the pace of this start's updates so far.
  virtual void updated(const ProgressRecord&, double /*loss*/, const Outlook&) {}
  virtual void logged(const UpdateFacts&, const ProgressRecord&) {}
  virtual void validated(const ValidationFacts&) {}
  virtual void noticed(const std::string& /*text*/) {}
  virtual void warned(const std::string& /*text*/) {}
};

}  // namespace dragoman
