// Packs pairs of the corpus into batches, as the corpus has them or encoded anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/corpus.h"
#include "data/fresh_encoder.h"
#include "data/packed_batch.h"
#include "data/pair_alignments.h"
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

/// What batches are made of besides the corpus; either may be null.
struct PairSupplements {
  std::shared_ptr<const FreshEncoder> encoder = nullptr;       ///< encodes pairs anew
  std::shared_ptr<const PairAlignments> alignments = nullptr;  ///< links their pieces
};

/// Batches whose pairs are encoded anew have other lengths than the corpus, which the plan goes by.
/// So the plan gets a smaller budget, by the factor by which encoding anew lengthens some 2,000
/// pairs of the corpus, and 3 % less, since lengths vary; where a batch is still too long, its last
/// pairs stay as the corpus has them until it fits.
class BatchPacker {
 public:
  /// `max_tokens` as in PlanConfig; without an encoder pairs are as the corpus has them.
  BatchPacker(const Corpus& corpus, EndIds ends, std::int64_t max_tokens,
              PairSupplements supplements);

  /// The budget to plan with.
  std::int64_t planned_tokens() const { return planned_tokens_; }
  PackedBatch pack(std::span<const std::uint32_t> pairs, Turn turn) const;

 private:
  std::int64_t find_planned_tokens() const;
  void add_links(PackedBatch& batch) const;

  Corpus corpus_;
  EndIds ends_;
  std::int64_t max_tokens_;
  std::shared_ptr<const FreshEncoder> encoder_;
  std::shared_ptr<const PairAlignments> alignments_;
  std::int64_t planned_tokens_;
};

}  // namespace dragoman
