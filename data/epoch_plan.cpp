#include "data/epoch_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/threads.h"

namespace dragoman {

namespace {

constexpr int kRounds = 4;
constexpr std::int32_t kLongest = 0xFFFF;  ///< longer pairs are sorted as if they were this long

std::uint32_t half_bits(std::uint64_t key, int round, std::uint32_t half) {
  return static_cast<std::uint32_t>(mix64(key ^ (static_cast<std::uint64_t>(round) << 32 | half)) &
                                    0xFFFF);
}

/// A random bijection of 32-bit numbers (a Feistel network, Luby and Rackoff 1988). With it a
/// random order needs a number in the sort key, but no table.
std::uint32_t permute(std::uint32_t x, std::uint64_t key) {
  std::uint32_t left = x >> 16, right = x & 0xFFFF;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t next = left ^ half_bits(key, round, right);
    left = right;
    right = next;
  }
  return left << 16 | right;
}

std::uint32_t permute_back(std::uint32_t x, std::uint64_t key) {
  std::uint32_t left = x >> 16, right = x & 0xFFFF;
  for (int round = kRounds - 1; round >= 0; --round) {
    const std::uint32_t previous = right ^ half_bits(key, round, left);
    right = left;
    left = previous;
  }
  return left << 16 | right;
}

/// Gives each use of a seed its own random numbers.
enum Purpose : std::uint64_t { kPairOrder = 1, kBatchOrder = 2, kFraction = 3, kMixedOrder = 4 };

/// The weights of an epoch by range of pairs, with the end of the corpus as the last element. The
/// weights of kUnknownEpoch are those of the last stage.
std::vector<WeightedPairs> weighted_ranges(const Corpus& corpus, const PlanConfig& config,
                                           std::int64_t epoch) {
  std::vector<WeightedPairs> ranges;
  for (const WeightStage& stage : config.stages)
    if (stage.first_epoch <= epoch) ranges = stage.weights;
  if (ranges.empty()) ranges.push_back({.first_pair = 0, .weight = 1});
  ranges.push_back({.first_pair = corpus.pairs(), .weight = 0});
  return ranges;
}

}  // namespace

std::int64_t times_seen(double weight, std::uint64_t seed, std::int64_t epoch, std::int64_t pair) {
  if (weight == std::floor(weight)) return static_cast<std::int64_t>(weight);
  const double offset = uniform_of(random_bits(seed, kFraction, pair));
  const auto before = [&](std::int64_t epochs) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(epochs) * weight + offset));
  };
  return before(epoch + 1) - before(epoch);
}

std::span<const std::uint32_t> EpochPlan::batch(std::int64_t index) const {
  const Range range = ranges_[static_cast<std::size_t>(index)];
  return std::span(order_).subspan(range.begin, range.end - range.begin);
}

std::int64_t EpochPlan::round(std::int64_t index) const {
  return ranges_[static_cast<std::size_t>(index)].round;
}

/// One round of an epoch: its pairs sorted by target length, source length and rank(pair), which
/// `pair_of` undoes, then cut into batches.
class EpochPlan::Round {
 public:
  Round(const Corpus& corpus, const PlanConfig& config, std::uint32_t number)
      : corpus_(corpus), config_(config), number_(number) {}

  /// `for_each_pair(visit)` calls visit(pair) for the round's pairs; every call visits the same
  /// pairs.
  template <class ForEachPair, class Rank>
  void sort(ForEachPair&& for_each_pair, Rank&& rank) {
    for_each_pair([&](std::uint32_t pair) { ++ends_[target_length(pair)]; });
    std::size_t pairs = 0;
    for (std::size_t& end : ends_) pairs = end += pairs;
    keys_.resize(pairs);
    std::vector<std::size_t> next(ends_.size());
    std::copy(ends_.begin(), ends_.end() - 1, next.begin() + 1);
    for_each_pair([&](std::uint32_t pair) {
      const auto source = static_cast<std::uint64_t>(
          std::min(corpus_.lengths(static_cast<std::int64_t>(pair)).source, kLongest));
      keys_[next[target_length(pair)]++] = source << 32 | rank(pair);
    });
    const int threads = config_.threads > 0 ? config_.threads : available_cores();
    parallel_for(std::ssize(ends_), threads, [&](std::int64_t length) {
      std::sort(keys_.begin() + begin_of(length), keys_.begin() + end_of(length));
    });
  }

  template <class PairOf>
  void cut_into(EpochPlan& plan, PairOf&& pair_of) const {
    plan.require_room_for(keys_.size());
    auto begin = static_cast<std::uint32_t>(plan.order_.size());
    std::int64_t source = 0, target = 0;
    const auto close = [&](std::uint32_t end) {
      if (begin < end) plan.ranges_.push_back({begin, end, number_});
      begin = end;
      source = target = 0;
    };
    plan.order_.reserve(plan.order_.size() + keys_.size());
    for (std::int64_t length = 0; length < std::ssize(ends_); ++length)
      for (std::ptrdiff_t i = begin_of(length); i < end_of(length); ++i) {
        const std::uint64_t key = keys_[static_cast<std::size_t>(i)];
        const std::uint32_t pair = pair_of(static_cast<std::uint32_t>(key));
        PairLengths added{static_cast<std::int32_t>(key >> 32), static_cast<std::int32_t>(length)};
        if (std::max(added.source, added.target) >= kLongest) added = corpus_.lengths(pair);
        const auto at = static_cast<std::uint32_t>(plan.order_.size());
        if (std::max(source + added.source, target + added.target) + 1 > config_.max_tokens ||
            (config_.max_sentences > 0 && at - begin >= config_.max_sentences))
          close(at);
        source += added.source + 1;  // with </s>
        target += added.target + 1;
        plan.order_.push_back(pair);
      }
    close(static_cast<std::uint32_t>(plan.order_.size()));
  }

 private:
  std::size_t target_length(std::uint32_t pair) const {
    return static_cast<std::size_t>(
        std::min(corpus_.lengths(static_cast<std::int64_t>(pair)).target, kLongest));
  }
  std::ptrdiff_t begin_of(std::int64_t length) const {
    return length == 0 ? 0 : end_of(length - 1);
  }
  std::ptrdiff_t end_of(std::int64_t length) const {
    return static_cast<std::ptrdiff_t>(ends_[static_cast<std::size_t>(length)]);
  }

  const Corpus& corpus_;
  const PlanConfig& config_;
  std::uint32_t number_;
  std::vector<std::size_t> ends_ = std::vector<std::size_t>(kLongest + 1);  ///< by target length
  std::vector<std::uint64_t> keys_;  ///< source length and rank, by target length
};

// ---- batches of mixed lengths -------------------------------------------------------------------

namespace {

EpochSize size_of_epoch(const Corpus& corpus, const PlanConfig& config) {
  EpochSize size;
  const auto ranges = weighted_ranges(corpus, config, kUnknownEpoch);
  for (std::size_t i = 0; i + 1 < ranges.size(); ++i)
    for (std::int64_t pair = ranges[i].first_pair; pair < ranges[i + 1].first_pair; ++pair) {
      const PairLengths lengths = corpus.lengths(pair);
      size.pairs += ranges[i].weight;
      size.source_tokens += ranges[i].weight * (lengths.source + 1);
      size.target_tokens += ranges[i].weight * (lengths.target + 1);
      size.longest_source = std::max<std::int64_t>(size.longest_source, lengths.source + 1);
      size.longest_target = std::max<std::int64_t>(size.longest_target, lengths.target + 1);
    }
  return size;
}

std::int64_t multiple_of(std::int64_t unit, double at_least) {
  return divide_up(static_cast<std::int64_t>(std::ceil(at_least)), unit) * unit;
}

}  // namespace

BatchCapacity batch_capacity(const EpochSize& epoch, const PlanConfig& config) {
  constexpr std::int64_t kFewTokens = 8192, kFiller = 8, kFlashBlock = 128;
  const double batches = std::max(1.0, std::max(epoch.source_tokens, epoch.target_tokens) /
                                           static_cast<double>(config.max_tokens));
  BatchCapacity capacity;
  const auto side = [&](double tokens, std::int64_t longest, std::int64_t& most) {
    const SideShape shape{
        .rows = multiple_of(config.max_tokens < kFewTokens ? 64 : 256, tokens / batches),
        .longest = multiple_of(kFlashBlock, static_cast<double>(longest))};
    most = std::clamp<std::int64_t>(shape.rows - kFiller, 1, config.max_tokens);
    return shape;
  };
  capacity.shape.source = side(epoch.source_tokens, epoch.longest_source, capacity.source_tokens);
  capacity.shape.target = side(epoch.target_tokens, epoch.longest_target, capacity.target_tokens);
  // A batch has more sentences than usual if these happen to be short.
  capacity.sentences = multiple_of(64, 1.25 * epoch.pairs / batches + 16);
  if (config.max_sentences > 0)
    capacity.sentences = std::min(capacity.sentences, config.max_sentences);
  // The last batch of an epoch may be nearly all filler.
  const auto filler_sentences = [](const SideShape& shape) {
    return divide_up(shape.rows, std::max<std::int64_t>(shape.longest, 1));
  };
  capacity.shape.sentences = capacity.sentences + std::max(filler_sentences(capacity.shape.source),
                                                           filler_sentences(capacity.shape.target));
  return capacity;
}

BatchCapacity batch_capacity(const Corpus& corpus, const PlanConfig& config) {
  return batch_capacity(size_of_epoch(corpus, config), config);
}

void EpochPlan::require_room_for(std::size_t pairs) const {
  if (order_.size() + pairs > std::numeric_limits<std::uint32_t>::max())
    throw Error("an epoch of more than four billion pairs: that is the limit");
}

/// If the next pair does not fit, one of the pairs after it may.
void EpochPlan::add_mixed(const Corpus& corpus, const BatchCapacity& capacity,
                          std::vector<std::uint32_t> pairs, std::uint32_t round) {
  constexpr std::size_t kLookedAt = 64;
  require_room_for(pairs.size());
  const std::size_t before = order_.size();
  for (std::size_t at = 0; at < pairs.size();) {
    const std::size_t begin = at;
    std::int64_t source = 0, target = 0;
    const auto has_room_for = [&](std::uint32_t pair) {
      const PairLengths added = corpus.lengths(pair);
      return source + added.source + 1 <= capacity.source_tokens &&
             target + added.target + 1 <= capacity.target_tokens;
    };
    while (at < pairs.size() && static_cast<std::int64_t>(at - begin) < capacity.sentences) {
      const auto next = pairs.begin() + static_cast<std::ptrdiff_t>(at);
      const auto end = next + static_cast<std::ptrdiff_t>(std::min(kLookedAt, pairs.size() - at));
      const auto fitting = std::find_if(next, end, has_room_for);
      if (fitting == end && at > begin) break;
      if (fitting != end) std::iter_swap(next, fitting);
      source += corpus.lengths(*next).source + 1;
      target += corpus.lengths(*next).target + 1;
      ++at;
    }
    ranges_.push_back({static_cast<std::uint32_t>(before + begin),
                       static_cast<std::uint32_t>(before + at), round});
  }
  order_.insert(order_.end(), pairs.begin(), pairs.end());
}

EpochPlan plan_epoch(const Corpus& corpus, const PlanConfig& config, std::int64_t epoch) {
  EpochPlan plan;
  const bool mixed = config.lengths == BatchLengths::Mixed;
  const BatchCapacity capacity = mixed ? batch_capacity(corpus, config) : BatchCapacity{};
  const auto ranges = weighted_ranges(corpus, config, epoch);
  double largest = 0;
  for (const WeightedPairs& range : ranges) largest = std::max(largest, range.weight);
  for (std::uint32_t number = 0; number < std::ceil(largest); ++number) {
    const std::uint64_t key = random_bits(config.seed, kPairOrder, epoch, number);
    const auto for_each_pair = [&](auto&& visit) {
      for (std::size_t range = 0; range + 1 < ranges.size(); ++range)
        for (std::int64_t pair = ranges[range].first_pair; pair < ranges[range + 1].first_pair;
             ++pair)
          if (times_seen(ranges[range].weight, config.seed, epoch, pair) > number)
            visit(static_cast<std::uint32_t>(pair));
    };
    if (mixed) {
      std::vector<std::uint32_t> pairs;
      for_each_pair([&pairs](std::uint32_t pair) { pairs.push_back(pair); });
      RandomStream(config.seed, kMixedOrder, epoch, number).shuffle(pairs);
      plan.add_mixed(corpus, capacity, std::move(pairs), number);
      continue;
    }
    EpochPlan::Round round(corpus, config, number);
    round.sort(for_each_pair, [key](std::uint32_t pair) { return permute(pair, key); });
    round.cut_into(plan, [key](std::uint32_t rank) { return permute_back(rank, key); });
  }
  RandomStream(config.seed, kBatchOrder, epoch).shuffle(plan.ranges_);
  return plan;
}

EpochPlan plan_in_length_order(const Corpus& corpus, const PlanConfig& config) {
  EpochPlan plan;
  const auto same = [](std::uint32_t pair) { return pair; };
  EpochPlan::Round round(corpus, config, 0);
  round.sort(
      [&](auto&& visit) {
        for (std::int64_t pair = 0; pair < corpus.pairs(); ++pair)
          visit(static_cast<std::uint32_t>(pair));
      },
      same);
  round.cut_into(plan, same);
  return plan;
}

}  // namespace dragoman
