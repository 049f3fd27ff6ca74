// The threads that translate, one for each engine, and the queue of sentences. A sentence goes to
// the first engine with free rows. All engines give the same result if they compute each row alike,
// whatever stands beside it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "inference/scheduler.h"

namespace dragoman {

/// Too many sentences wait already. The caller may try again later.
class ServiceBusy : public Error {
 public:
  using Error::Error;
};

/// Which of the waiting sentences is taken first.
enum class QueueOrder {
  Arrival,  ///< those that came first
  Turns  ///< eight of each submission in turn: many sentences do not hold up a few that come later
};

class Workers {
 public:
  struct Limits {
    std::int64_t rows = 0;          ///< of each engine's step; 0: as many as keep it busy
    std::int64_t waiting = 65'536;  ///< if this many sentences wait, add() refuses more
    QueueOrder order = QueueOrder::Arrival;
  };

  /// At least one engine; all must outlive the workers.
  Workers(std::span<Engine* const> engines, const Limits& limits);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// Sentences that are not finished fail (SentenceReceiver::fail).
  ~Workers();

  /// Adds the sentences, the longest first, after those that wait already or in turn with them
  /// (QueueOrder). Each has a receiver. May be called from any thread. Adds none if it throws:
  /// ServiceBusy, or the first engine's error if all engines have failed.
  void add(std::vector<SourceSentence> sentences);

  /// The number of sentences with these settings that can be in translation at once.
  std::int64_t capacity(const DecodeConfig& config) const;
  const Limits& limits() const { return limits_; }
  std::int64_t waiting() const;
  /// The rows of all engines' steps that have a sentence; 0 while nothing is translated.
  std::int64_t rows_in_use() const;
  /// The error of the first engine that failed; null while all work. A failed engine gets no more
  /// sentences, and those that it had fail (SentenceReceiver::fail).
  std::exception_ptr failure() const;

 private:
  void work(std::size_t engine, const std::stop_token& stop);
  /// Translates until a stop is requested. `in_hand` has the sentences that are in neither the
  /// queue nor the scheduler: work() lets them fail if an engine throws.
  void serve(std::size_t engine, std::vector<SourceSentence>& in_hand, const std::stop_token& stop);
  /// Removes from the queue the sentences that the scheduler has room for, and returns them.
  std::vector<SourceSentence> take(const SentenceScheduler& scheduler) REQUIRES(mutex_);
  /// Gives the sentences to their receivers, and puts those that are searched again into the
  /// queue. Until they are there, `in_hand` (empty before and after) has them.
  void deliver(std::vector<SourceSentence> finished, std::vector<SourceSentence>& in_hand);
  /// Moves the sentences into the queue. If memory runs out, they stay as they are.
  void put(std::vector<SourceSentence>& sentences) REQUIRES(mutex_);
  /// Notes that an engine has failed.
  void end_engine(std::size_t engine, std::exception_ptr error);
  /// Removes the next sentence of the queue and returns its receiver, if all engines have failed;
  /// null otherwise, and after the last sentence.
  std::shared_ptr<SentenceReceiver> next_without_engine();

  const Limits limits_;
  std::vector<std::shared_ptr<SentenceScheduler>> schedulers_;  ///< one for each engine
  const std::exception_ptr cancellation_error_ =
      std::make_exception_ptr(Error("the translation was cancelled"));
  mutable Mutex mutex_;
  std::deque<SourceSentence> waiting_ GUARDED_BY(mutex_);
  std::int64_t working_ GUARDED_BY(mutex_);  ///< engines that have not failed
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::vector<std::int64_t> rows_in_use_ GUARDED_BY(mutex_);  ///< of each engine
  std::condition_variable_any added_;
  std::vector<std::jthread> threads_;  ///< last: they use all members above
};

}  // namespace dragoman
