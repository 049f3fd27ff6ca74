// The batches of training, one after the other without end, each packed by a thread in the
// background while the one before is trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/epoch_plan.h"
#include "data/packed_batch.h"
#include "tokenizer/tokenizers.h"

namespace dragoman {

/// The end of a sentence on each side.
struct EndIds {
  TokenId source, target;
};
EndIds end_ids(const Tokenizers& tokenizers);

PackedBatch pack_batch(const Corpus& corpus, std::span<const std::uint32_t> pairs, EndIds ends);

/// All pairs in batches from short to long, for the validation loss; `max_tokens` as in PlanConfig.
std::vector<PackedBatch> all_batches(const Corpus& corpus, std::int64_t max_tokens, EndIds ends);

/// Where a run stands: all that a resumed run needs to go on exactly.
struct DataPosition {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t batch = 0;  ///< of the epoch, from 0

  bool operator==(const DataPosition&) const = default;
};

/// Which batches: of every `size` in a row the one of number `rank`.
struct BatchShare {
  std::int64_t rank = 0, size = 1;
};

class BatchStream {
 public:
  /// Starts at `position`; a batch number at or past the epoch's end means the next epoch's first.
  /// Throws Error for a corpus without pairs.
  BatchStream(const Corpus& corpus, const PlanConfig& config, EndIds ends, DataPosition position,
              BatchShare share = {});
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  PackedBatch next();
  DataPosition position() const;          ///< of the first of the batches behind this share's
  std::int64_t batches_in_epoch() const;  ///< of position()'s epoch
  double waited_seconds() const;          ///< what next() has waited for, in all

 private:
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

}  // namespace dragoman
