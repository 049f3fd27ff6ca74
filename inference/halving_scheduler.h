// A scheduler on a device whose memory may run out: it then halves its rows, and the sentences that
// were under way begin again. Their translations do not depend on the rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "inference/sentence_scheduler.h"

namespace dragoman {

/// What an engine on such a device is beside an Engine.
class ResettableEngine {
 public:
  virtual ~ResettableEngine() = default;
  /// Frees all slots and rows with their memory, after an exception from admit() or step(), too. No
  /// scheduler may be left.
  virtual void reset() = 0;
  /// Is told the rows that are left, on the thread that translates.
  virtual void tell_fewer_rows(std::int64_t rows) = 0;
};

class HalvingScheduler : public SentenceScheduler {
 public:
  /// Makes a scheduler of so many rows on the engine.
  using Make = std::function<std::shared_ptr<SentenceScheduler>(std::int64_t rows)>;

  /// The engines must outlive the scheduler. `rows`: to begin with.
  HalvingScheduler(std::vector<ResettableEngine*> engines, Make make, std::int64_t rows);

  std::int64_t capacity(const DecodeConfig& config) const override;
  bool idle() const override { return again_.empty() && scheduler_->idle(); }
  std::int64_t rows_in_use() const override { return scheduler_->rows_in_use(); }
  /// None while sentences wait that begin again.
  std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const override;
  void admit(std::span<SourceSentence> sentences) override;
  void drop_cancelled() override;
  /// Throws where memory does not suffice for one row either.
  std::vector<FinishedSentence> step() override;
  void fail_all(const std::exception_ptr& error) override;

 private:
  /// Does the work. If memory runs out, halves the rows and returns false.
  bool try_to(const std::function<void()>& work);
  void admit_again();

  const std::vector<ResettableEngine*> engines_;
  const Make make_;
  std::atomic<std::int64_t> rows_;  // any thread asks for the capacity
  std::shared_ptr<SentenceScheduler> scheduler_;
  std::vector<SourceSentence> under_way_;  // as they came, in their order
  std::deque<SourceSentence> again_;       // those to be admitted again
};

}  // namespace dragoman
