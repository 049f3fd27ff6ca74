// Which pairs make up which batch of an epoch: a pure function of lengths, budget, seed and epoch,
// the same on any machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"

namespace dragoman {

struct PlanConfig {
  std::int64_t max_tokens = 4096;  ///< bounds source and target tokens each, </s> included
  std::int64_t max_sentences = 0;  ///< 0: no limit
  std::uint64_t seed = 1;
};

class EpochPlan {
 public:
  std::int64_t batches() const { return static_cast<std::int64_t>(ranges_.size()); }
  /// Numbers of the pairs of a batch in the corpus, of like length.
  std::span<const std::uint32_t> batch(std::int64_t index) const;

 private:
  friend EpochPlan plan_epoch(const Corpus&, const PlanConfig&, std::int64_t epoch);
  friend EpochPlan plan_in_length_order(const Corpus&, const PlanConfig&);
  struct Range {
    std::uint32_t begin, end;
  };
  static EpochPlan cut(const Corpus& corpus, const PlanConfig& config,
                       std::vector<std::uint32_t> order);

  std::vector<std::uint32_t> order_;  ///< [pairs]
  std::vector<Range> ranges_;         ///< [batches], of order_
};

/// Every pair once: sorted by target length, then source length, then at random by (seed, epoch),
/// cut into batches as full as the budget allows, and the batches shuffled by (seed, epoch). A pair
/// longer than the budget is a batch of its own. Takes 12 bytes a pair while it works, 4 after.
EpochPlan plan_epoch(const Corpus& corpus, const PlanConfig& config, std::int64_t epoch);

/// The same without randomness: batches from short to long, for validation.
EpochPlan plan_in_length_order(const Corpus& corpus, const PlanConfig& config);

}  // namespace dragoman
