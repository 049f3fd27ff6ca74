// The training text of a run as the batches of its updates.
#pragma once

#include <optional>
#include <vector>

#include "data/batch_stream.h"
#include "training/progress_record.h"
#include "training/training_run.h"

namespace dragoman {

/// The batches of one rank.
class UpdateBatches {
 public:
  /// The run outlives this object.
  UpdateBatches(const TrainingRun& run, BatchShare share) : run_(run), share_(share) {}

  /// Goes on from where the progress stands. Each rollback begins another order of the same text.
  /// To be called before anything else.
  void open(const ProgressRecord& progress);

  /// The batches of the next update.
  std::vector<PackedBatch> next();
  /// Where the next update begins.
  DataPosition position() const { return stream_->position(); }
  /// Passes over the text up to there.
  double epochs() const;
  double updates_per_epoch() const;
  /// For which next() has waited since open().
  double waited_seconds() const { return stream_->waited_seconds(); }

 private:
  const TrainingRun& run_;
  BatchShare share_;
  std::optional<BatchStream> stream_;
};

}  // namespace dragoman
