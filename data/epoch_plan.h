// The pairs of each batch of an epoch: a pure function of lengths, weights, budget, seed and epoch,
// the same on any machine. And the capacity of batches of mixed lengths, which all have one shape.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "data/corpus.h"
#include "data/packed_batch.h"

namespace dragoman {

/// Pairs from `first_pair` to the first pair of the next element are seen `weight` times in an
/// epoch, on average.
struct WeightedPairs {
  std::int64_t first_pair;
  double weight;

  bool operator==(const WeightedPairs&) const = default;
};

/// The first epoch of a stage that comes after one whose end is not known yet.
inline constexpr std::int64_t kUnknownEpoch = std::numeric_limits<std::int64_t>::max();

/// A stage of the training text: the weights of the epochs from `first_epoch` on, up to the next
/// stage.
struct WeightStage {
  std::int64_t first_epoch;                 ///< or kUnknownEpoch
  std::vector<WeightedPairs> weights = {};  ///< from pair 0 on

  bool operator==(const WeightStage&) const = default;
};

/// Similar: the sentences of a batch have about the same length. Padding then wastes little.
/// Mixed: the pairs of a batch are drawn at random. All batches then have about the same number of
/// tokens on each side, so that they fit into one capacity, whose shape a GPU meets in each update.
enum class BatchLengths { Similar, Mixed };
constexpr std::array<std::string_view, 2> names_of(BatchLengths) { return {"similar", "mixed"}; }

struct PlanConfig {
  std::int64_t max_tokens = 4096;  ///< of source and target each, with a </s> for each sentence
  std::int64_t max_sentences = 0;  ///< 0: no limit
  BatchLengths lengths = BatchLengths::Similar;
  std::uint64_t seed = 1;
  std::vector<WeightStage> stages = {};  ///< from epoch 0 on; none: all pairs once
  int threads = 0;                       ///< of the sorting; 0: all cores
};

/// How often a pair is seen in an epoch: floor(weight) or ceil(weight) times. The mean over the
/// seeds is `weight`. In the first E epochs, for any E, it is seen floor(E weight) or ceil(E
/// weight) times.
std::int64_t times_seen(double weight, std::uint64_t seed, std::int64_t epoch, std::int64_t pair);

/// An epoch, on average. Sentences count with a </s>.
struct EpochSize {
  double pairs = 0, source_tokens = 0, target_tokens = 0;
  std::int64_t longest_source = 0, longest_target = 0;
};

/// What a batch of mixed lengths has room for.
struct BatchCapacity {
  std::int64_t sentences = 0, source_tokens = 0, target_tokens = 0;  ///< of its pairs, at most
  BatchShape shape = {};                                             ///< with filler
};

/// The side with more tokens has room for `max_tokens`. The other side has room for as many as fill
/// it at about the same time. Both numbers are multiples of 256, or of 64 below 8,192. Some filler
/// sentences fit, too. The capacity's `longest` is the length of the longest sentence, rounded up
/// to a multiple of 128.
BatchCapacity batch_capacity(const EpochSize& epoch, const PlanConfig& config);
/// For an average epoch of the corpus, with the weights of the last stage.
BatchCapacity batch_capacity(const Corpus& corpus, const PlanConfig& config);

class EpochPlan {
 public:
  std::int64_t batches() const { return std::ssize(ranges_); }
  /// The corpus numbers of the pairs of a batch.
  std::span<const std::uint32_t> batch(std::int64_t index) const;
  /// The round of the batch: how often its pairs have been seen earlier in this epoch. Only pairs
  /// of a weight above 1 have rounds after 0.
  std::int64_t round(std::int64_t index) const;

 private:
  friend EpochPlan plan_epoch(const Corpus&, const PlanConfig&, std::int64_t epoch);
  friend EpochPlan plan_in_length_order(const Corpus&, const PlanConfig&);
  class Round;
  void require_room_for(std::size_t pairs) const;
  /// Adds the pairs in about this order, in batches that fit into the capacity.
  void add_mixed(const Corpus& corpus, const BatchCapacity& capacity,
                 std::vector<std::uint32_t> pairs, std::uint32_t round);
  struct Range {
    std::uint32_t begin, end;
    std::uint32_t round;
  };

  std::vector<std::uint32_t> order_;  ///< [pairs seen]
  std::vector<Range> ranges_;         ///< [batches], of order_
};

/// The pairs of an epoch, each as often as times_seen() says: sorted by target length, then source
/// length, then at random by (seed, epoch), and cut into batches as full as the budget allows. The
/// batches are shuffled by (seed, epoch). Pairs of mixed lengths are not sorted, and batches keep
/// to the batch_capacity(). A pair longer than the budget is a batch of its own.
/// Pairs that are seen more than once are in further rounds, each sorted and cut by itself, so no
/// batch has a pair twice. Takes 12 bytes for each pair while it works, 4 after.
EpochPlan plan_epoch(const Corpus& corpus, const PlanConfig& config, std::int64_t epoch);

/// All pairs once, without randomness: batches from short to long, for validation.
EpochPlan plan_in_length_order(const Corpus& corpus, const PlanConfig& config);

}  // namespace dragoman
