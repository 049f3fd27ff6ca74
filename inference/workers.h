// Several engines on the same work, each with a scheduler and a thread of its own; a single one
// works on the caller's thread. Which engine translates a sentence changes nothing about the result
// (as far as the engines' arithmetic does not depend on what stands beside it).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "inference/scheduler.h"

namespace dragoman {

class Workers {
 public:
  /// At least one engine. Engines and configuration must outlive the workers.
  Workers(std::span<Engine* const> engines, const DecodeConfig& config, TargetTokens tokens);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  /// Sentences that are taken longest first, but after those that wait already.
  void add(std::vector<SourceSentence> sentences);

  /// How many sentences can be under way at once.
  std::int64_t capacity() const { return capacity_; }
  std::int64_t waiting() const;
  bool idle() const { return under_way_ == 0; }

  /// Sentences that are finished since the last call, perhaps none; waits a little for the first.
  /// Throws what a worker has thrown.
  std::vector<FinishedSentence> step();

 private:
  void work(Engine& engine, std::stop_token stop);
  /// Moves waiting sentences to a scheduler with free places; the lock is held.
  void hand_out(Scheduler& scheduler);

  const DecodeConfig& config_;
  TargetTokens tokens_;
  std::size_t count_;  ///< workers
  std::int64_t capacity_ = 0;
  std::int64_t under_way_ = 0;      ///< added and not yet returned
  std::optional<Scheduler> alone_;  ///< of a single engine
  mutable std::mutex mutex_;
  std::condition_variable_any added_;
  std::condition_variable ended_;
  std::deque<SourceSentence> waiting_;
  std::vector<FinishedSentence> finished_;
  std::exception_ptr failure_;
  std::vector<std::jthread> threads_;  ///< last: they use all above
};

}  // namespace dragoman
