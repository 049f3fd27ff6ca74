// The interface of a scheduler to a worker. A scheduler takes sentences in as there is room, and
// gives them back translated. Scheduler searches on the host, for any Engine.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <vector>

#include "inference/search/decode_config.h"
#include "inference/sentence.h"

namespace dragoman {

/// The most tokens, </s> included, of the sentence's translation, by a model of so many positions.
/// Leaves room for the required prefix and phrases.
std::int64_t max_length_of(const SourceSentence& sentence, std::int64_t max_positions);
/// Makes the sentence's random draws differ from those of other sentences.
std::uint64_t random_key_of(const SourceSentence& sentence);

/// One thread makes all calls.
class SentenceScheduler {
 public:
  virtual ~SentenceScheduler() = default;

  /// The number of sentences with these settings, and without required phrases, that can be in
  /// translation at once.
  virtual std::int64_t capacity(const DecodeConfig& config) const = 0;
  virtual bool idle() const = 0;
  /// The rows that its sentences may take in a step.
  virtual std::int64_t rows_in_use() const = 0;
  /// The number of sentences at the front of `waiting` that there is room for now; at least one if
  /// the scheduler is idle.
  virtual std::int64_t count_admissible(const std::deque<SourceSentence>& waiting) const = 0;
  /// Encodes the sentences and begins their searches. Moves requirements out of them.
  virtual void admit(std::span<SourceSentence> sentences) = 0;
  /// Frees the rows of sentences for which nobody waits any more.
  virtual void drop_cancelled() = 0;
  /// Takes a step, if something is under way, and returns the sentences that it finished. A
  /// sentence whose search throws is among them, and the others go on.
  virtual std::vector<FinishedSentence> step() = 0;
  /// Ends all that is under way (SentenceReceiver::fail). Takes no memory.
  virtual void fail_all(const std::exception_ptr& error) = 0;
};

}  // namespace dragoman
