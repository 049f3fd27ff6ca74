// Packs pairs of the corpus into batches, with the tokens of the corpus or encoded anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/fresh_encoder.h"
#include "data/packed_batch.h"
#include "data/pair_alignments.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

PackedBatch pack_batch(const Corpus& corpus, std::span<const std::uint32_t> pairs, EndIds ends);

/// All pairs in batches from short to long, for the validation loss; `max_tokens` as in PlanConfig.
std::vector<PackedBatch> all_batches(const Corpus& corpus, std::int64_t max_tokens, EndIds ends);

/// Sources of a batch besides the corpus. Either may be null.
struct PairSupplements {
  std::shared_ptr<const FreshEncoder> encoder = nullptr;       ///< encodes pairs anew
  std::shared_ptr<const PairAlignments> alignments = nullptr;  ///< links their pieces
};

struct PackingConfig {
  std::int64_t max_tokens = 0;  ///< as in PlanConfig
  int threads = 0;              ///< of the training, of which a quarter encode; 0: all cores
};

/// Pairs that are encoded anew have other lengths than in the corpus, but the plan knows only the
/// lengths in the corpus. So the plan gets a smaller budget: by the factor by which encoding anew
/// lengthens some 2,000 pairs of the corpus, and by 3 % more, since lengths vary. Where a batch is
/// still too long, its last pairs stay as the corpus has them until it fits.
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

}  // namespace dragoman
