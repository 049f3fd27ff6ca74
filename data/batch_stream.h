// The batches of training, one after the other without end. A thread in the background packs the
// next two batches while one is trained on: the first is ready, the second waits for its place.
#pragma once

#include <cstdint>
#include <memory>

#include "data/batch_packer.h"
#include "data/corpus.h"
#include "data/epoch_plan.h"
#include "data/packed_batch.h"

namespace dragoman {

/// The position of a run in the data: all that a resumed run needs to go on exactly.
struct DataPosition {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t batch = 0;  ///< of the epoch, from 0

  bool operator==(const DataPosition&) const = default;
};

/// The batches of one rank: of every `size` batches in a row, the one with number `rank`.
struct BatchShare {
  std::int64_t rank = 0, size = 1;
};

/// The sources of a batch besides the corpus, and the rank's share of the batches.
struct StreamOptions {
  PairSupplements supplements = {};
  BatchShare share = {};
};

class BatchStream {
 public:
  /// Starts at `position`. A batch number at or past the end of the epoch means the first batch of
  /// the next one. With an encoder, pairs are encoded anew, and batches hold as many of them as fit
  /// the budget. PlanConfig::threads plan an epoch, and a quarter of them encode the pairs of a
  /// batch anew. Throws Error for a corpus without pairs.
  BatchStream(const Corpus& corpus, const PlanConfig& config, EndIds ends, DataPosition position,
              StreamOptions options = {});
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  PackedBatch next();
  /// The position of the next batch of rank 0; BatchShare::size batches make one step of all ranks.
  DataPosition position() const;
  /// Of the epoch that the last batch came from; before the first next(), of the epoch of
  /// position(). Does not wait.
  std::int64_t batches_in_epoch() const;
  double waited_seconds() const;  ///< the total time that next() has waited

 private:
  struct Producer;
  std::unique_ptr<Producer> producer_;
};

}  // namespace dragoman
