// The threads that translate, one for each engine, and the sentences that wait for them. A sentence
// goes to whichever engine has rows free; which one that is changes nothing about the result (as
// far as the engines' arithmetic does not depend on what stands beside it).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "inference/scheduler.h"

namespace dragoman {

/// Too much waits already; later there may be room.
class ServiceBusy : public Error {
 public:
  using Error::Error;
};

class Workers {
 public:
  struct Limits {
    std::int64_t rows = 0;          ///< of each engine's step; 0: as the engine likes
    std::int64_t waiting = 65'536;  ///< sentences; while so many wait, more are refused
  };

  /// At least one engine; all must outlive the workers.
  Workers(std::span<Engine* const> engines, const Limits& limits);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// What is not finished fails.
  ~Workers();

  /// Sentences, each with a receiver, that are taken longest first, but after those that wait
  /// already: all of them or none. From any thread. Throws ServiceBusy, and when no engine works
  /// any more, what the first has thrown.
  void add(std::vector<SourceSentence> sentences);

  /// How many sentences with such a search can be under way at once.
  std::int64_t capacity(const DecodeConfig& search) const;
  std::int64_t waiting() const;
  /// What the first engine that failed has thrown; null while all work. Such an engine gets nothing
  /// more to do, and the receivers of what it had under way are told.
  std::exception_ptr failure() const;

 private:
  void work(Engine& engine, const std::stop_token& stop);
  /// Until a stop is requested.
  void serve(Scheduler& scheduler, std::vector<SourceSentence>& taken, const std::stop_token& stop);
  /// Moves what the scheduler has room for out of what waits.
  std::vector<SourceSentence> take(const Scheduler& scheduler) REQUIRES(mutex_);
  void deliver(std::vector<FinishedSentence> finished);
  void put(std::vector<SourceSentence> sentences) REQUIRES(mutex_);
  /// An engine has failed: what waits comes back, if none is left to take it.
  std::deque<SourceSentence> end_engine(std::exception_ptr error);

  const Limits limits_;
  const std::vector<Engine*> engines_;
  mutable Mutex mutex_;
  std::deque<SourceSentence> waiting_ GUARDED_BY(mutex_);
  std::int64_t working_ GUARDED_BY(mutex_);  ///< engines that have not failed
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::condition_variable_any added_;
  std::vector<std::jthread> threads_;  ///< last: they use all above
};

}  // namespace dragoman
