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
#include "inference/demands.h"
#include "inference/scheduler.h"
#include "inference/split.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// A line as it comes.
struct LineInput {
  std::string text;          ///< any bytes
  std::string prefix = {};   ///< the translation begins with it
  std::string payload = {};  ///< goes along with the line, for who writes it
};

/// A word between white space.
struct TranslatedWord {
  std::string text;
  double sum = 0;  ///< of its pieces' log-probabilities
  /// Attention to each word of the source line, where asked for; the mean over its pieces.
  std::vector<float> attention = {};
  bool operator==(const TranslatedWord&) const = default;
};

struct TranslatedText {
  std::string text;                        ///< one line, valid UTF-8
  double score = 0;                        ///< normalized_score, with the coverage penalty
  double sum = 0;                          ///< of log-probabilities
  std::vector<TranslatedWord> words = {};  ///< where asked for (DecodeConfig::reports_words)
  bool operator==(const TranslatedText&) const = default;
};

struct Translation {
  std::int64_t line;                    ///< counted from 0
  std::vector<TranslatedText> n_best;   ///< best first, at least one
  std::string payload = {};             ///< of the line
  std::vector<std::string> unmet = {};  ///< texts that the best one should have and has not
};

/// What happened, for a summary.
struct TranslationFacts {
  std::int64_t lines = 0;
  std::int64_t empty = 0;     ///< lines without text, whose translation is empty
  std::int64_t split = 0;     ///< lines translated in parts
  std::int64_t repaired = 0;  ///< lines with invalid UTF-8, which was replaced
  std::int64_t cut = 0;       ///< lines whose translation reached its maximum length
  std::int64_t unmet = 0;     ///< lines whose translation lacks a text that it should have
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;  ///< of the best translations
};

class TranslationQueue {
 public:
  /// Source sentences have at most `most_pieces`. All must outlive the queue.
  TranslationQueue(const Tokenizer& source, const Tokenizer& target, const DecodeConfig& config,
                   const Demands& demands, std::int64_t most_pieces);

  /// Adds the next line and returns its sentences: one, more where it is too long, none where it is
  /// empty.
  std::vector<SourceSentence> add(LineInput line);
  void finish(FinishedSentence sentence);
  /// The next line's translation, if it is finished.
  std::optional<Translation> next();

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  const TranslationFacts& facts() const { return facts_; }

 private:
  struct Part {
    LinePart text;                        // views of the line's text
    std::vector<std::size_t> words = {};  // of the line, for each source piece; where asked for
    std::vector<RequiredText> required = {};
    std::vector<Hypothesis> hypotheses = {};
  };
  struct Line {
    std::string text, payload;
    std::vector<Part> parts;  // none for an empty line
    std::size_t words = 0;
    std::size_t missing = 0;  // parts that are not finished
  };

  std::vector<SourceSentence> make_sentences(Line& line, std::int64_t number,
                                             const std::string& prefix);
  Requirements requirements(const Part& part) const;
  TranslatedText join(const Line& line, std::size_t rank) const;
  void append_words(const Line& line, const Part& part, const Hypothesis& hypothesis,
                    std::vector<TranslatedWord>& words) const;

  const Tokenizer& source_;
  const Tokenizer& target_;
  const DecodeConfig& config_;
  const Demands& demands_;
  std::int64_t most_pieces_;
  std::deque<Line> lines_;
  std::int64_t first_line_ = 0;  // number of lines_.front()
  TranslationFacts facts_;
};

}  // namespace dragoman
