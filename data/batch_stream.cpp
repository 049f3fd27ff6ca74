#include "data/batch_stream.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "base/mutex.h"
#include "base/threads.h"

namespace dragoman {

namespace {

/// The number of pairs that are encoded again to see how much longer they become.
constexpr std::int64_t kPairsMeasured = 2000;
constexpr double kRoomToVary = 1.03;

/// The number of pieces of the last sentence of a side, which has not ended yet.
std::size_t pieces_at_end(const PackedSide& side) {
  return side.tokens.size() - static_cast<std::size_t>(side.starts.back());
}

void end_sentence(PackedSide& side) {
  side.starts.push_back(static_cast<std::int32_t>(side.size()));
}

/// Training keeps its threads busy, so one in four encodes.
int encoding_threads(const PackingConfig& config) {
  return std::max(1, (config.threads > 0 ? config.threads : available_cores()) / 4);
}

/// Numbers of tokens. The </s> of each sentence counts, even if a model's sources have none.
struct Tokens {
  std::int64_t source = 0, target = 0;

  void add(PairLengths lengths) {
    source += lengths.source + 1;
    target += lengths.target + 1;
  }
  void remove(PairLengths lengths) {
    source -= lengths.source + 1;
    target -= lengths.target + 1;
  }
};

PairLengths lengths_of(const EncodedSides& sides) {
  return {.source = static_cast<std::int32_t>(sides.source.size()),
          .target = static_cast<std::int32_t>(sides.target.size())};
}

}  // namespace

PackedBatch pack_batch(const Corpus& corpus, std::span<const std::uint32_t> pairs, EndIds ends) {
  return BatchPacker(corpus, ends, {}, {}).pack(pairs, {});
}

std::vector<PackedBatch> all_batches(const Corpus& corpus, std::int64_t max_tokens, EndIds ends) {
  const EpochPlan plan = plan_in_length_order(corpus, {.max_tokens = max_tokens});
  std::vector<PackedBatch> batches;
  for (std::int64_t i = 0; i < plan.batches(); ++i)
    batches.push_back(pack_batch(corpus, plan.batch(i), ends));
  return batches;
}

BatchPacker::BatchPacker(const Corpus& corpus, EndIds ends, PackingConfig config,
                         PairSupplements supplements)
    : corpus_(corpus),
      ends_(ends),
      config_(config),
      encoder_(std::move(supplements.encoder)),
      alignments_(std::move(supplements.alignments)),
      planned_tokens_(find_planned_tokens()) {}

std::int64_t BatchPacker::find_planned_tokens() const {
  if (!encoder_) return config_.max_tokens;
  Tokens own, fresh;
  const std::int64_t step = std::max<std::int64_t>(1, corpus_.pairs() / kPairsMeasured);
  for (std::int64_t pair = 0; pair < corpus_.pairs(); pair += step) {
    const auto sides = encoder_->encode(corpus_, pair, {});
    own.add(corpus_.lengths(pair));
    fresh.add(sides ? lengths_of(*sides) : corpus_.lengths(pair));
  }
  const auto ratio = [](std::int64_t longer, std::int64_t shorter) {
    return static_cast<double>(longer) / static_cast<double>(std::max<std::int64_t>(1, shorter));
  };
  const double factor =
      std::max({1.0, ratio(fresh.source, own.source), ratio(fresh.target, own.target)});
  return std::max<std::int64_t>(
      1,
      static_cast<std::int64_t>(static_cast<double>(config_.max_tokens) / (factor * kRoomToVary)));
}

PackedBatch BatchPacker::pack(std::span<const std::uint32_t> pairs, Turn turn) const {
  std::vector<std::optional<EncodedSides>> fresh(pairs.size());
  if (encoder_) {
    encoder_->require_unchanged_text();
    parallel_for(std::ssize(pairs), encoding_threads(config_), [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      fresh[at] = encoder_->encode(corpus_, pairs[at], turn);
    });
    Tokens tokens;
    for (std::size_t i = 0; i < pairs.size(); ++i)
      tokens.add(fresh[i] ? lengths_of(*fresh[i]) : corpus_.lengths(pairs[i]));
    const BatchCapacity& capacity = config_.capacity;
    const bool mixed = capacity.sentences > 0;
    const std::int64_t most_source = mixed ? capacity.source_tokens : config_.max_tokens,
                       most_target = mixed ? capacity.target_tokens : config_.max_tokens;
    for (std::size_t i = pairs.size();
         i-- > 0 && (tokens.source > most_source || tokens.target > most_target);) {
      if (!fresh[i]) continue;
      tokens.remove(lengths_of(*fresh[i]));
      tokens.add(corpus_.lengths(pairs[i]));
      fresh[i].reset();
    }
  }
  PackedBatch batch;
  batch.capacity = config_.capacity.shape;
  batch.sentences.assign(pairs.begin(), pairs.end());
  batch.source.starts.push_back(0);
  batch.target.starts.push_back(0);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (fresh[i]) {
      std::ranges::copy(fresh[i]->source, std::back_inserter(batch.source.tokens));
      std::ranges::copy(fresh[i]->target, std::back_inserter(batch.target.tokens));
    } else {
      corpus_.append_source(pairs[i], batch.source.tokens);
      corpus_.append_target(pairs[i], batch.target.tokens);
    }
    if (ends_.ends_source(pieces_at_end(batch.source))) batch.source.tokens.push_back(ends_.source);
    end_sentence(batch.source);
    batch.target.tokens.push_back(ends_.target);
    end_sentence(batch.target);
  }
  if (alignments_) add_links(batch);
  return batch;
}

void BatchPacker::add_links(PackedBatch& batch) const {
  const auto pieces = [](const PackedSide& side, std::size_t sentence, TokenId eos) {
    const auto begin = static_cast<std::size_t>(side.starts[sentence]);
    const auto end = static_cast<std::size_t>(side.starts[sentence + 1]);
    return std::span(side.tokens).subspan(begin, end - begin - (side.tokens[end - 1] == eos));
  };
  batch.links.resize(batch.sentences.size());
  parallel_for(std::ssize(batch.sentences), encoding_threads(config_), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    batch.links[at] = alignments_->links(corpus_.line(batch.sentences[at]),
                                         pieces(batch.source, at, ends_.source),
                                         pieces(batch.target, at, ends_.target));
  });
}

namespace {

struct Place {
  DataPosition position;
  std::int64_t batches_in_epoch = 0;  ///< as BatchStream::batches_in_epoch()
};

struct ReadyBatch {
  PackedBatch batch = {};
  Place first;       ///< of the `size` batches that it belongs to
  Place after = {};  ///< of the first batch after them
};

}  // namespace

struct BatchStream::Producer {
  Producer(const Corpus& the_corpus, BatchPacker the_packer, const PlanConfig& the_config)
      : corpus(the_corpus), packer(std::move(the_packer)), config(the_config) {}

  Corpus corpus;
  BatchPacker packer;
  PlanConfig config;
  BatchShare share;

  mutable Mutex mutex;
  mutable std::condition_variable_any changed;
  std::optional<ReadyBatch> ready GUARDED_BY(mutex);
  std::exception_ptr failure GUARDED_BY(mutex);

  Place place;  ///< used by the consumer alone, like all members below
  double waited_seconds = 0;
  std::jthread thread;

  void run(const std::stop_token& stop, DataPosition at) {
    try {
      EpochPlan plan = plan_epoch(corpus, config, at.epoch);
      const auto enter = [&] {  // at the end of an epoch, goes to the next one that has batches
        while (at.batch >= plan.batches()) {
          if (stop.stop_requested()) return false;
          at = {.epoch = at.epoch + 1, .batch = 0};
          plan = {};  // frees it first: a plan takes 4 bytes a pair
          plan = plan_epoch(corpus, config, at.epoch);
        }
        return true;
      };
      for (;;) {
        if (!enter()) return;
        ReadyBatch next{.first = {at, plan.batches()}};
        for (std::int64_t i = 0; i < share.size; ++i, ++at.batch) {
          if (!enter()) return;
          if (i == share.rank)
            next.batch = packer.pack(plan.batch(at.batch), {at.epoch, plan.round(at.batch)});
        }
        const bool through = at.batch >= plan.batches();
        next.after = {through ? DataPosition{.epoch = at.epoch + 1, .batch = 0} : at,
                      plan.batches()};
        if (!offer(std::move(next), stop)) return;
      }
    } catch (...) {
      const MutexLock lock(mutex);
      failure = std::current_exception();
      changed.notify_all();
    }
  }

  /// Waits until the batch before has been taken. Returns false if a stop was requested.
  bool offer(ReadyBatch batch, const std::stop_token& stop) {
    MutexLock lock(mutex);
    if (!changed.wait(lock, stop, [this]() REQUIRES(mutex) { return !ready; })) return false;
    ready = std::move(batch);
    changed.notify_all();
    return true;
  }

  /// Waits until a batch is ready. Throws the error that prevents it.
  const ReadyBatch& wait(MutexLock& lock) const REQUIRES(mutex) {
    while (!ready && !failure) changed.wait(lock);
    if (!ready) std::rethrow_exception(failure);
    return *ready;
  }
};

BatchStream::BatchStream(const Corpus& corpus, const PlanConfig& config, EndIds ends,
                         DataPosition position, StreamOptions options) {
  if (corpus.pairs() == 0) throw Error("there is no pair to train on");
  producer_ =
      std::make_unique<Producer>(corpus,
                                 BatchPacker(corpus, ends,
                                             {.max_tokens = config.max_tokens,
                                              .threads = config.threads,
                                              .capacity = config.lengths == BatchLengths::Mixed
                                                              ? batch_capacity(corpus, config)
                                                              : BatchCapacity{}},
                                             std::move(options.supplements)),
                                 config);
  producer_->config.max_tokens = producer_->packer.planned_tokens();
  producer_->share = options.share;
  producer_->thread =
      std::jthread([producer = producer_.get(), position](const std::stop_token& stop) {
        producer->run(stop, position);
      });
  MutexLock lock(producer_->mutex);
  producer_->place = producer_->wait(lock).first;
}

BatchStream::~BatchStream() = default;

PackedBatch BatchStream::next() {
  const Stopwatch watch;
  MutexLock lock(producer_->mutex);
  producer_->wait(lock);
  producer_->waited_seconds += watch.seconds();
  producer_->place = producer_->ready->after;
  PackedBatch batch = std::move(producer_->ready->batch);
  producer_->ready.reset();
  producer_->changed.notify_all();
  return batch;
}

DataPosition BatchStream::position() const { return producer_->place.position; }

std::int64_t BatchStream::batches_in_epoch() const { return producer_->place.batches_in_epoch; }

double BatchStream::waited_seconds() const { return producer_->waited_seconds; }

}  // namespace dragoman
