// Keeps an engine's rows full: sentences are admitted as rows become free, take their steps
// together and leave when their search is finished. Each is searched for as it says itself; what
// else is under way changes no result (as far as the engine's arithmetic does not).
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "inference/engine.h"
#include "inference/search.h"

namespace dragoman {

class SentenceReceiver;

struct SourceSentence {
  std::int64_t line;
  std::int64_t part;            ///< of the line; line and part alone decide random draws
  std::vector<TokenId> tokens;  ///< with </s>
  std::shared_ptr<const SearchSettings> search = {};
  bool needs_attention = false;  ///< each Hypothesis has it
  Requirements required = {};
  std::shared_ptr<SentenceReceiver> receiver = {};
  std::stop_token stop = {};  ///< nobody waits for it any more
};

struct FinishedSentence {
  std::int64_t line, part;
  std::vector<Hypothesis> hypotheses;  ///< best first
  std::shared_ptr<SentenceReceiver> receiver = {};
};

/// Who waits for sentences. Called on the threads of workers, several at a time.
class SentenceReceiver {
 public:
  virtual ~SentenceReceiver() = default;
  /// Takes a sentence's translation; what is returned is to be searched for in its place.
  virtual std::optional<SourceSentence> finish(FinishedSentence sentence) = 0;
  /// Some of its sentences will not be finished.
  virtual void fail(std::exception_ptr error) = 0;
};

class Scheduler {
 public:
  /// The engine must outlive the scheduler. `rows` take a step together; 0: as the engine likes.
  explicit Scheduler(Engine& engine, std::int64_t rows = 0);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// How many sentences with such a search can be under way at once.
  std::int64_t capacity(const DecodeConfig& search) const;
  bool idle() const { return active_.empty(); }

  /// How many of the sentences that wait there is room for now, in their order; at least one where
  /// nothing is under way. Attention of other heads than those under way tell has to wait.
  std::int64_t count_admitted(const std::deque<SourceSentence>& waiting) const;
  /// Takes tokens and requirements of the sentences.
  void admit(std::span<SourceSentence> sentences);
  /// Frees the rows of sentences for which nobody waits any more.
  void drop_stopped();
  /// Takes a step, if something is under way, and returns the sentences that it finished.
  std::vector<FinishedSentence> step();
  /// Of what is under way.
  std::vector<std::shared_ptr<SentenceReceiver>> receivers() const;

 private:
  struct Active {
    std::int64_t line, part;
    std::int32_t slot;
    std::int32_t first_row;  ///< in the last step; its rows stand side by side
    std::size_t first_wanted, source_places;
    bool needs_attention;
    std::shared_ptr<const SearchSettings> settings;
    std::shared_ptr<SentenceReceiver> receiver;
    std::stop_token stop;
    SentenceSearch search;

    const DecodeConfig& config() const { return settings->config; }
  };

  /// Of those under way that tell attention, if any do.
  std::optional<AttentionHeads> heads() const;
  Active start(SourceSentence& sentence, std::int32_t slot, std::size_t places) const;
  void place_rows();
  std::span<const Candidate> candidates_of(const Active& sentence);
  std::vector<FinishedSentence> advance();

  Engine& engine_;
  std::int64_t rows_;
  std::int64_t best_ = 0;  // candidates per row of the step under way
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
