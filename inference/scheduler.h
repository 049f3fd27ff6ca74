// A sentence on its way through the search, and the schedulers that keep an engine's rows full.
//
// A worker gives sentences to a SentenceScheduler, as there is room for them, and gets them back
// translated. Scheduler searches on the host, for any HostEngine.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "inference/search/decode_config.h"
#include "inference/search/engine.h"
#include "inference/search/search.h"

namespace dragoman {

class SentenceReceiver;

/// A sentence: what goes into its search, and what comes out.
struct SourceSentence {
  std::int64_t line;
  std::int64_t part;                 ///< of the line; seed, line and part decide the random draws
  std::vector<TokenId> tokens = {};  ///< TokenizerPair::source_tokens()
  std::shared_ptr<const SearchSettings> settings = {};
  bool needs_attention = false;  ///< to fill Hypothesis::attention
  Requirements required = {};
  std::shared_ptr<SentenceReceiver> receiver = {};
  std::stop_token stop = {};  ///< requested when nobody waits for the sentence any more
  std::int64_t turn = 0;      ///< set by Workers: its turn; lower numbers come first
  bool has_end = true;        ///< whether the last of the tokens is </s>, which is not a piece

  std::vector<Hypothesis> hypotheses = {};  ///< found for it, best first
  std::exception_ptr error = {};            ///< of its search; if not null, there are no hypotheses

  /// The number of source pieces, for the rules about lengths.
  std::int64_t pieces() const {
    return static_cast<std::int64_t>(tokens.size()) - (has_end ? 1 : 0);
  }
  bool is_cancelled() const { return stop.stop_requested(); }
};

/// Receives translated sentences. Several worker threads may call it at once.
class SentenceReceiver {
 public:
  virtual ~SentenceReceiver() = default;
  /// Takes the hypotheses of a sentence. If it returns a sentence, that one is put into the queue,
  /// and its hypotheses come here, too.
  virtual std::optional<SourceSentence> finish(SourceSentence sentence) = 0;
  /// Learns that some of its sentences will never be finished. May be called several times. Takes
  /// no memory, because the error may be that there is none.
  virtual void fail(std::exception_ptr error) noexcept = 0;
};

/// The most tokens, </s> included, of the sentence's translation by a model that has
/// `max_positions`. Leaves room for the required prefix and phrases.
std::int64_t max_length_of(const SourceSentence& sentence, std::int64_t max_positions);
/// Makes the sentence's random draws differ from those of other sentences.
std::uint64_t random_key_of(const SourceSentence& sentence);

/// The interface of a scheduler to a worker. One thread makes all calls.
class SentenceScheduler {
 public:
  virtual ~SentenceScheduler() = default;

  /// The number of sentences with these settings, and without required phrases, that can be in
  /// translation at once.
  virtual std::int64_t capacity(const DecodeConfig& config) const = 0;
  virtual bool idle() const = 0;
  /// The number of rows that its sentences may take in a step.
  virtual std::int64_t rows_in_use() const = 0;
  /// The number of sentences at the front of `waiting` that there is room for now; at least one if
  /// the scheduler is idle.
  virtual std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const = 0;
  /// Encodes the sentences and begins their searches. Moves requirements out of them.
  virtual void admit(std::span<SourceSentence> sentences) = 0;
  /// Frees the rows of sentences for which nobody waits any more.
  virtual void drop_cancelled() = 0;
  /// Takes a step, if something is under way, and returns the sentences that it finished. A
  /// sentence whose search throws is among them, and the others continue.
  virtual std::vector<SourceSentence> step() = 0;
  /// Lets everything that is under way fail (SentenceReceiver::fail). Takes no memory.
  virtual void fail_all(const std::exception_ptr& error) = 0;
};

/// Admits waiting sentences as rows of its engine become free. All sentences take their steps
/// together, and each leaves when its search is finished. Each has its own search settings. The
/// other sentences do not change its result if the engine computes each row alike, whatever stands
/// beside it.
class Scheduler : public SentenceScheduler {
 public:
  /// The engine must outlive the scheduler. A step has about `rows` rows; 0:
  /// HostEngine::preferred_rows().
  explicit Scheduler(HostEngine& engine, std::int64_t rows = 0);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() override;

  std::int64_t capacity(const DecodeConfig& config) const override;
  bool idle() const override { return active_.empty(); }
  std::int64_t rows_in_use() const override;
  /// A step reports the attention of one layer and head. So a sentence that needs another layer or
  /// head waits, and so do those after it.
  std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const override;
  void admit(std::span<SourceSentence> sentences) override;
  void drop_cancelled() override;
  std::vector<SourceSentence> step() override;
  void fail_all(const std::exception_ptr& error) override;

 private:
  struct Active {
    SourceSentence sentence;
    EngineSearch rows;
  };

  /// The heads whose attention the step reports; none if no sentence needs attention.
  std::optional<AttentionHeads> heads() const;
  void release(std::span<const std::int32_t> slots);
  void start(SourceSentence& sentence, std::int32_t slot);
  std::vector<SourceSentence> advance();

  HostEngine& engine_;
  std::int64_t rows_;
  std::vector<Active> active_;
  SearchStep step_;
};

/// The scheduler of an engine: its own, or a Scheduler with about `rows` rows in a step.
std::shared_ptr<SentenceScheduler> scheduler_of(Engine& engine, std::int64_t rows);

}  // namespace dragoman
