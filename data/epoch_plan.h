// The pairs of each batch of an epoch: a pure function of lengths, weights, budget, seed and epoch,
// the same on any machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus.h"

namespace dragoman {

/// Pairs from `first_pair` to the first pair of the next element are seen `weight` times in an
/// epoch, on average.
struct WeightedPairs {
  std::int64_t first_pair;
  double weight;

  bool operator==(const WeightedPairs&) const = default;
};

struct PlanConfig {
  std::int64_t max_tokens = 4096;  ///< of source and target each, with a </s> for each sentence
  std::int64_t max_sentences = 0;  ///< 0: no limit
  std::uint64_t seed = 1;
  std::vector<WeightedPairs> weights = {};  ///< from pair 0 on; none: all pairs once
  int threads = 0;                          ///< of the sorting; 0: all cores
};

/// How often a pair is seen in an epoch: floor(weight) or ceil(weight) times. The mean over the
/// seeds is `weight`. In the first E epochs, for any E, it is seen floor(E weight) or ceil(E
/// weight) times.
std::int64_t times_seen(double weight, std::uint64_t seed, std::int64_t epoch, std::int64_t pair);

class EpochPlan {
 public:
  std::int64_t batches() const { return std::ssize(ranges_); }
  /// The corpus numbers of the pairs of a batch, which have similar lengths.
  std::span<const std::uint32_t> batch(std::int64_t index) const;
  /// The round of the batch: how often its pairs have been seen earlier in this epoch. Only pairs
  /// of a weight above 1 have rounds after 0.
  std::int64_t round(std::int64_t index) const;

 private:
  friend EpochPlan plan_epoch(const Corpus&, const PlanConfig&, std::int64_t epoch);
  friend EpochPlan plan_in_length_order(const Corpus&, const PlanConfig&);
  class Round;
  struct Range {
    std::uint32_t begin, end;
    std::uint32_t round;
  };

  std::vector<std::uint32_t> order_;  ///< [pairs seen]
  std::vector<Range> ranges_;         ///< [batches], of order_
};

/// The pairs of an epoch, each as often as times_seen() says: sorted by target length, then source
/// length, then at random by (seed, epoch), and cut into batches as full as the budget allows. The
/// batches are shuffled by (seed, epoch). A pair longer than the budget is a batch of its own.
/// Pairs that are seen more than once are in further rounds, each sorted and cut by itself, so no
/// batch has a pair twice. Takes 12 bytes for each pair while it works, 4 after.
EpochPlan plan_epoch(const Corpus& corpus, const PlanConfig& config, std::int64_t epoch);

/// All pairs once, without randomness: batches from short to long, for validation.
EpochPlan plan_in_length_order(const Corpus& corpus, const PlanConfig& config);

}  // namespace dragoman
