#include "data/epoch_plan.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/random.h"

namespace dragoman {

namespace {

constexpr int kRounds = 4;

/// A random bijection of 32-bit numbers (a Feistel network, Luby and Rackoff 1988), so that a
/// random order costs a number's place in a sort key and no table.
std::uint32_t permute(std::uint32_t x, std::uint64_t key) {
  std::uint32_t left = x >> 16, right = x & 0xFFFF;
  for (int round = 0; round < kRounds; ++round) {
    const auto mixed = static_cast<std::uint32_t>(random_bits(key, round, right) & 0xFFFF);
    const std::uint32_t next = left ^ mixed;
    left = right;
    right = next;
  }
  return left << 16 | right;
}

std::uint32_t permute_back(std::uint32_t x, std::uint64_t key) {
  std::uint32_t left = x >> 16, right = x & 0xFFFF;
  for (int round = kRounds - 1; round >= 0; --round) {
    const auto mixed = static_cast<std::uint32_t>(random_bits(key, round, left) & 0xFFFF);
    const std::uint32_t previous = right ^ mixed;
    right = left;
    left = previous;
  }
  return left << 16 | right;
}

/// Pair numbers sorted by target length, source length, rank(pair); `pair_of` undoes `rank`.
template <class Rank, class PairOf>
std::vector<std::uint32_t> order_by_length(const Corpus& corpus, Rank rank, PairOf pair_of) {
  if (corpus.pairs() > std::numeric_limits<std::uint32_t>::max())
    throw Error("the corpus has ", corpus.pairs(), " pairs: four billion is the limit");
  const auto pairs = static_cast<std::uint32_t>(corpus.pairs());
  std::vector<std::uint64_t> keys(pairs);
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const PairLengths lengths = corpus.lengths(pair);
    const auto target = static_cast<std::uint64_t>(std::min(lengths.target, 0xFFFF));
    const auto source = static_cast<std::uint64_t>(std::min(lengths.source, 0xFFFF));
    keys[pair] = target << 48 | source << 32 | rank(pair);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(pairs);
  for (std::uint32_t i = 0; i < pairs; ++i) order[i] = pair_of(static_cast<std::uint32_t>(keys[i]));
  return order;
}

/// Tells the uses of one seed apart.
enum Purpose : std::uint64_t { kPairOrder = 1, kBatchOrder = 2 };

}  // namespace

std::span<const std::uint32_t> EpochPlan::batch(std::int64_t index) const {
  const Range range = ranges_[static_cast<std::size_t>(index)];
  return std::span(order_).subspan(range.begin, range.end - range.begin);
}

EpochPlan EpochPlan::cut(const Corpus& corpus, const PlanConfig& config,
                         std::vector<std::uint32_t> order) {
  EpochPlan plan;
  plan.order_ = std::move(order);
  const auto pairs = static_cast<std::uint32_t>(plan.order_.size());
  std::int64_t source = 0, target = 0;
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const PairLengths lengths = corpus.lengths(plan.order_[i]);
    source += lengths.source + 1;  // with </s>
    target += lengths.target + 1;
    const bool full = std::max(source, target) > config.max_tokens ||
                      (config.max_sentences > 0 && i - begin >= config.max_sentences);
    if (i > begin && full) {
      plan.ranges_.push_back({begin, i});
      begin = i;
      source = lengths.source + 1;
      target = lengths.target + 1;
    }
  }
  if (begin < pairs) plan.ranges_.push_back({begin, pairs});
  return plan;
}

EpochPlan plan_epoch(const Corpus& corpus, const PlanConfig& config, std::int64_t epoch) {
  const std::uint64_t key = random_bits(config.seed, kPairOrder, epoch);
  EpochPlan plan =
      EpochPlan::cut(corpus, config,
                     order_by_length(
                         corpus, [key](std::uint32_t pair) { return permute(pair, key); },
                         [key](std::uint32_t rank) { return permute_back(rank, key); }));
  RandomStream(config.seed, kBatchOrder, epoch).shuffle(plan.ranges_);
  return plan;
}

EpochPlan plan_in_length_order(const Corpus& corpus, const PlanConfig& config) {
  const auto same = [](std::uint32_t pair) { return pair; };
  return EpochPlan::cut(corpus, config, order_by_length(corpus, same, same));
}

}  // namespace dragoman
