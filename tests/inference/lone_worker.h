// Sentences searched for on the test's own thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "inference/scheduler.h"

namespace dragoman {

class LoneWorker {
 public:
  /// Sentences without settings of their own are searched for by `config` and `tokens`.
  LoneWorker(HostEngine& engine, const DecodeConfig& config, TargetTokens tokens)
      : LoneWorker(std::make_unique<Scheduler>(engine, config.batch_size), config,
                   std::move(tokens)) {}
  LoneWorker(std::shared_ptr<SentenceScheduler> scheduler, DecodeConfig config, TargetTokens tokens)
      : scheduler_(std::move(scheduler)),
        search_(std::make_shared<const SearchSettings>(
            SearchSettings{std::move(config), std::move(tokens)})) {}

  void add(std::vector<SourceSentence> sentences) {
    std::stable_sort(sentences.begin(), sentences.end(),
                     [](const SourceSentence& a, const SourceSentence& b) {
                       return a.tokens.size() > b.tokens.size();
                     });
    for (SourceSentence& sentence : sentences) {
      if (!sentence.settings) sentence.settings = search_;
      if (sentence.settings->config.coverage_penalty > 0) sentence.needs_attention = true;
      waiting_.push_back(std::move(sentence));
    }
  }

  bool idle() const { return waiting_.empty() && scheduler_->idle(); }

  std::vector<SourceSentence> step() {
    scheduler_->drop_cancelled();
    const std::int64_t count = scheduler_->count_admissible(waiting_);
    std::vector<SourceSentence> taken(std::make_move_iterator(waiting_.begin()),
                                      std::make_move_iterator(waiting_.begin() + count));
    waiting_.erase(waiting_.begin(), waiting_.begin() + count);
    scheduler_->admit(taken);
    std::vector<SourceSentence> finished = scheduler_->step();
    for (const SourceSentence& sentence : finished)
      if (sentence.error) std::rethrow_exception(sentence.error);
    return finished;
  }

  /// Adds the sentences in parts, and takes steps until all are finished.
  std::vector<SourceSentence> finish(const std::vector<SourceSentence>& sentences,
                                     std::size_t added_at_once) {
    std::vector<SourceSentence> finished;
    for (auto next = sentences.begin(); next != sentences.end() || !idle();) {
      const auto count = std::min<std::ptrdiff_t>(added_at_once, sentences.end() - next);
      add({next, next + count});
      next += count;
      for (SourceSentence& sentence : step()) finished.push_back(std::move(sentence));
    }
    return finished;
  }

 private:
  std::shared_ptr<SentenceScheduler> scheduler_;
  std::shared_ptr<const SearchSettings> search_;
  std::deque<SourceSentence> waiting_;
};

}  // namespace dragoman
