// The events of a training: the facts that the trainer reports to the program (TrainingObserver)
// and to the log of the run (run_log.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/log_interval.h"
#include "training/outlook.h"
#include "training/progress_record.h"
#include "training/scores.h"

namespace dragoman {

/// One line of the log.
struct UpdateFacts {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t update = 0;
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

/// An update that was not made, as its loss or gradient was not to be trusted.
struct LeftOutFacts {
  std::int64_t update = 0;
  double loss = 0, gradient_norm = 0;
  std::vector<std::int64_t> lines = {};  ///< of the training text, from 1

  bool is_finite() const;
};

class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  /// After each update. The outlook assumes the pace of this start's updates so far.
  virtual void updated(const ProgressRecord& progress, double loss, const Outlook& outlook) = 0;
  virtual void logged(const UpdateFacts& facts, const ProgressRecord& progress) = 0;
  virtual void validated(const ValidationFacts& facts) = 0;
  virtual void noticed(const std::string& text) = 0;
  virtual void warned(const std::string& text) = 0;
};

}  // namespace dragoman
