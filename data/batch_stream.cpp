#include "data/batch_stream.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/mutex.h"

namespace dragoman {

namespace {

struct Place {
  DataPosition position;
  std::int64_t batches_in_epoch = 0;  ///< as BatchStream::batches_in_epoch()
};

struct ReadyBatch {
  PackedBatch batch;
  Place first;  ///< of the `size` batches that it belongs to
  Place after;  ///< of the first batch behind them
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
      const auto enter = [&] {  // goes to the next epoch with batches at the end of this one
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
        ReadyBatch next{.batch = {}, .first = {at, plan.batches()}, .after = {}};
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

  /// Waits until the batch before has been taken; false when stopped.
  bool offer(ReadyBatch batch, const std::stop_token& stop) {
    MutexLock lock(mutex);
    if (!changed.wait(lock, stop, [this]() REQUIRES(mutex) { return !ready; })) return false;
    ready = std::move(batch);
    changed.notify_all();
    return true;
  }

  /// Waits until a batch is ready. Throws the error that has prevented it.
  const ReadyBatch& wait(MutexLock& lock) const REQUIRES(mutex) {
    while (!ready && !failure) changed.wait(lock);
    if (!ready) std::rethrow_exception(failure);
    return *ready;
  }
};

BatchStream::BatchStream(const Corpus& corpus, const PlanConfig& config, EndIds ends,
                         DataPosition position, StreamOptions options) {
  if (corpus.pairs() == 0) throw Error("there is no pair to train on");
  producer_ = std::make_unique<Producer>(
      corpus,
      BatchPacker(corpus, ends, {.max_tokens = config.max_tokens, .threads = config.threads},
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
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(producer_->mutex);
  producer_->wait(lock);
  producer_->waited_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
