// Lines on their way: each becomes sentences for the scheduler, waits for their translations, and
// leaves in its turn.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/decode_config.h"
#include "inference/scheduler.h"
#include "inference/split.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

struct TranslatedText {
  std::string text;  ///< one line, valid UTF-8
  double score = 0;  ///< normalized_score
  double sum = 0;    ///< of log-probabilities
  bool operator==(const TranslatedText&) const = default;
};

struct Translation {
  std::int64_t line;                   ///< counted from 0
  std::vector<TranslatedText> n_best;  ///< best first, at least one
};

/// What happened, for a summary.
struct TranslationFacts {
  std::int64_t lines = 0;
  std::int64_t empty = 0;     ///< lines without text, whose translation is empty
  std::int64_t split = 0;     ///< lines translated in parts
  std::int64_t repaired = 0;  ///< lines with invalid UTF-8, which was replaced
  std::int64_t cut = 0;       ///< lines whose translation reached its maximum length
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;  ///< of the best translations
};

class TranslationQueue {
 public:
  /// Source sentences have at most `most_pieces`. All must outlive the queue.
  TranslationQueue(const Tokenizer& source, const Tokenizer& target, const DecodeConfig& config,
                   std::int64_t most_pieces);

  /// Adds the next line (any bytes) and returns its sentences: one, more where it is too long, none
  /// where it is empty.
  std::vector<SourceSentence> add(std::string_view line);
  void finish(FinishedSentence sentence);
  /// The next line's translation, if it is finished.
  std::optional<Translation> next();

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  const TranslationFacts& facts() const { return facts_; }

 private:
  struct Line {
    std::string text;
    std::vector<LinePart> parts;                      // views of `text`; none for an empty line
    std::vector<std::vector<Hypothesis>> hypotheses;  // of each part
    std::size_t missing = 0;                          // parts that are not finished
  };

  std::vector<SourceSentence> make_sentences(Line& line, std::int64_t number);
  TranslatedText join(const Line& line, std::size_t rank) const;

  const Tokenizer& source_;
  const Tokenizer& target_;
  const DecodeConfig& config_;
  std::int64_t most_pieces_;
  std::deque<Line> lines_;
  std::int64_t first_line_ = 0;  // number of lines_.front()
  TranslationFacts facts_;
};

}  // namespace dragoman
