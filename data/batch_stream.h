// The batches of training, one after the other without end: the pairs that the plan of an epoch
// names are packed, with the tokens of the corpus or encoded again. A thread in the background
// packs the next two batches while one is trained on: the first is ready, the second waits until
// the first has been taken.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/epoch_plan.h"
#include "data/fresh_encoder.h"
#include "data/packed_batch.h"
#include "data/word_alignment.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

PackedBatch pack_batch(const Corpus& corpus, std::span<const std::uint32_t> pairs, EndIds ends);

/// All pairs in batches from short to long, for the validation loss; `max_tokens` as in PlanConfig.
std::vector<PackedBatch> all_batches(const Corpus& corpus, std::int64_t max_tokens, EndIds ends);

/// What batches are made from besides the corpus. Either may be null.
struct PairSupplements {
  std::shared_ptr<const FreshEncoder> encoder = nullptr;       ///< encodes pairs again
  std::shared_ptr<const PairAlignments> alignments = nullptr;  ///< links their pieces
};

struct PackingConfig {
  std::int64_t max_tokens = 0;  ///< as in PlanConfig
  int threads = 0;              ///< of the training; a quarter of them encode; 0: all cores
  BatchCapacity capacity = {};  ///< of batches of mixed lengths
};

/// Pairs that are encoded again have other lengths than in the corpus, but the plan knows only the
/// lengths in the corpus. So the plan gets a smaller budget: smaller by the factor by which
/// encoding lengthens some 2,000 pairs of the corpus, and by 3 % more, since lengths vary. If a
/// batch is still too long, its last pairs stay as the corpus has them until it fits.
class BatchPacker {
 public:
  /// Without an encoder, pairs are as the corpus has them.
  BatchPacker(const Corpus& corpus, EndIds ends, PackingConfig config, PairSupplements supplements);

  /// The budget for the plan of an epoch.
  std::int64_t planned_tokens() const { return planned_tokens_; }

  PackedBatch pack(std::span<const std::uint32_t> pairs, Turn turn) const;

 private:
  std::int64_t find_planned_tokens() const;
  void add_links(PackedBatch& batch) const;

  Corpus corpus_;
  EndIds ends_;
  PackingConfig config_;
  std::shared_ptr<const FreshEncoder> encoder_;
  std::shared_ptr<const PairAlignments> alignments_;
  std::int64_t planned_tokens_;
};

/// The position of a run in the data: all that a resumed run needs to continue exactly.
struct DataPosition {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t batch = 0;  ///< of the epoch, from 0

  bool operator==(const DataPosition&) const = default;
};

/// The batches of one rank: of every `size` batches in a row, the one with number `rank`.
struct BatchShare {
  std::int64_t rank = 0, size = 1;
};

struct StreamOptions {
  PairSupplements supplements = {};
  BatchShare share = {};
};

class BatchStream {
 public:
  /// Starts at `position`. A batch number at or past the end of the epoch means the first batch of
  /// the next one. With an encoder, pairs are encoded again, and batches hold as many of them as
  /// fit the budget. PlanConfig::threads plan an epoch, and a quarter of them encode the pairs of a
  /// batch. Throws Error for a corpus without pairs.
  BatchStream(const Corpus& corpus, const PlanConfig& config, EndIds ends, DataPosition position,
              StreamOptions options = {});
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;
  ~BatchStream();

  PackedBatch next();

  /// The position of the next batch of rank 0; BatchShare::size batches make one step of all ranks.
  DataPosition position() const;

  /// The number of batches of the epoch that the last batch came from; before the first next(), of
  /// the epoch of position(). Does not wait.
  std::int64_t batches_in_epoch() const;

  double waited_seconds() const;  ///< the total time that next() has waited

 private:
  struct Producer;
  std::unique_ptr<Producer> producer_;
};

}  // namespace dragoman
