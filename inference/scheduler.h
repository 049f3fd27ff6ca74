// Keeps an engine's rows full. Waiting sentences are admitted as rows become free. All sentences
// take their steps together, and each leaves when its search is finished. Each has its own search
// settings. The other sentences do not change its result if the engine computes each row alike,
// whatever stands beside it.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "inference/search/engine.h"
#include "inference/search/search.h"
#include "inference/search/search_step.h"
#include "inference/sentence.h"
#include "inference/sentence_scheduler.h"

namespace dragoman {

class Scheduler : public SentenceScheduler {
 public:
  /// The engine must outlive the scheduler. A step has about `rows` rows; 0:
  /// Engine::preferred_rows().
  explicit Scheduler(Engine& engine, std::int64_t rows = 0);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() override;

  std::int64_t capacity(const DecodeConfig& config) const override;
  bool idle() const override { return active_.empty(); }
  std::int64_t rows_in_use() const override;
  /// A step reports the attention of one layer and head. So a sentence that needs another layer or
  /// head waits, and those behind it wait, too.
  std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const override;
  void admit(std::span<SourceSentence> sentences) override;
  void drop_cancelled() override;
  std::vector<FinishedSentence> step() override;
  void fail_all(const std::exception_ptr& error) override;

 private:
  struct Active {
    std::int64_t line, part;
    std::shared_ptr<const SearchSettings> settings;
    std::shared_ptr<SentenceReceiver> receiver;
    std::stop_token stop;
    EngineSearch rows;
  };

  /// The heads whose attention the step reports; none if no sentence needs attention.
  std::optional<AttentionHeads> heads() const;
  void release(std::span<const std::int32_t> slots);
  Active start(SourceSentence& sentence, std::int32_t slot) const;
  std::vector<FinishedSentence> advance();

  Engine& engine_;
  std::int64_t rows_;
  std::vector<Active> active_;
  SearchStep step_;
};

}  // namespace dragoman
