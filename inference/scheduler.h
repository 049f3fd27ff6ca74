// Keeps the engine's rows full: sentences wait, are admitted longest first as rows become free,
// take their steps together and leave when their search is finished. What else is under way changes
// no result (as far as the engine's arithmetic does not).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "inference/decode_config.h"
#include "inference/engine.h"
#include "inference/search.h"

namespace dragoman {

struct SourceSentence {
  std::int64_t line;
  std::int64_t part;            ///< of the line; line and part alone decide random draws
  std::vector<TokenId> tokens;  ///< with </s>
  Requirements required = {};
  /// Where it is searched for unlike the others: beam size, n best, attention.
  std::shared_ptr<const DecodeConfig> search = {};
};

struct FinishedSentence {
  std::int64_t line, part;
  std::vector<Hypothesis> hypotheses;  ///< best first
};

class Scheduler {
 public:
  /// Engine and configuration must outlive the scheduler.
  Scheduler(Engine& engine, const DecodeConfig& config, TargetTokens tokens);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// Sentences that are admitted longest first, but after those that wait already.
  void add(std::vector<SourceSentence> sentences);

  /// How many sentences can be under way at once.
  std::int64_t capacity() const { return capacity_; }
  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }
  /// Places for sentences that are neither under way nor waiting.
  std::int64_t room() const {
    return capacity_ - waiting() - static_cast<std::int64_t>(active_.size());
  }
  bool idle() const { return waiting_.empty() && active_.empty(); }

  /// Admits what there is room for, takes one step, and returns the sentences that it finished.
  std::vector<FinishedSentence> step();

 private:
  struct Active {
    std::int64_t line, part;
    std::int32_t slot;
    std::int32_t first_row;  ///< in the last step; its rows stand side by side
    std::size_t first_wanted, source_places;
    std::shared_ptr<const DecodeConfig> own;  ///< null: config_
    SentenceSearch search;
  };

  const DecodeConfig& config_of(const Active& sentence) const {
    return sentence.own ? *sentence.own : config_;
  }
  std::int64_t count_admitted() const;
  void admit();
  Active start(SourceSentence sentence, std::int32_t slot, std::size_t places);
  void place_rows();
  std::span<const Candidate> candidates_of(const Active& sentence);
  std::vector<FinishedSentence> advance();

  Engine& engine_;
  const DecodeConfig& config_;
  TargetTokens tokens_;
  std::int64_t capacity_;
  std::int64_t best_ = 0;         // candidates per row of the step under way
  bool tells_attention_ = false;  // likewise
  std::deque<SourceSentence> waiting_;
  std::vector<Active> active_;
  // Of the step under way, kept for their memory.
  std::vector<RowOrigin> origins_;
  std::vector<TokenId> previous_;
  std::vector<Adjustment> adjustments_;
  std::vector<RowToken> wanted_;
  std::vector<Candidate> candidates_, own_candidates_;
  std::vector<float> wanted_log_probabilities_;
  std::vector<float> attention_;
};

}  // namespace dragoman
