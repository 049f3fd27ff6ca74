// Lines on their way: each becomes sentences for the scheduler, waits for their translations, and
// leaves in its turn.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/decode_config.h"
#include "inference/demands.h"
#include "inference/scheduler.h"
#include "inference/split.h"
#include "tokenizer/term_marks.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// What may be another for a line than DecodeConfig says.
struct LineSearch {
  std::int64_t beam_size, n_best;
  bool reports_attention;
};

/// A line as it comes.
struct LineInput {
  std::string text;  ///< any bytes
  /// The translation begins with it, valid UTF-8; where white space ends it, so does its last word.
  std::string prefix = {};
  Terms terms = {};  ///< of this line alone; they come before the others
  std::optional<LineSearch> search = {};
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
  std::vector<std::string> unmet = {};  ///< texts that the best one should have and has not
};

/// What happened to the lines that have left, for a summary.
struct TranslationFacts {
  std::int64_t lines = 0;
  std::int64_t empty = 0;     ///< lines without text, whose translation is empty
  std::int64_t split = 0;     ///< lines translated in parts: sentence by sentence, or long
  std::int64_t repaired = 0;  ///< lines with invalid UTF-8, which was replaced
  std::int64_t cut = 0;       ///< lines whose translation reached its maximum length
  std::int64_t unmet = 0;     ///< lines whose translation lacks a text that it should have
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;  ///< of the best translations

  TranslationFacts& operator+=(const TranslationFacts& more);
};

class TranslationQueue {
 public:
  struct Limits {
    std::int64_t most_pieces;     ///< of a source sentence
    std::int64_t first_line = 0;  ///< the number of the first line
  };
  /// All must outlive the queue.
  TranslationQueue(const Tokenizer& source, const Tokenizer& target, const DecodeConfig& config,
                   const Demands& demands, const Limits& limits);

  /// Adds the next line and returns its parts: one, more where it has several sentences or is too
  /// long, none where it is empty.
  std::vector<SourceSentence> add(LineInput line);
  /// Takes a sentence's translation; one that lacks what it should have is returned, to be searched
  /// for it.
  std::vector<SourceSentence> finish(FinishedSentence sentence);
  /// The next line's translation, if it is finished.
  std::optional<Translation> next();

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  const TranslationFacts& facts() const { return facts_; }

 private:
  struct Part {
    LinePart text;                        // views of the line's text
    std::vector<std::size_t> words = {};  // of the line, for each source piece; where asked for
    std::string_view tag = {};            // in front of its text
    MarkedText marked = {};               // the text with its terms, for a model that knows them
    Requirements prefix = {};             // what it begins with
    std::vector<RequiredText> required = {};
    std::vector<RequiredText> missing = {};  // of `required`, in the translation
    std::vector<RequiredText> asked = {};    // of the search
    std::vector<Hypothesis> hypotheses = {};
  };
  struct Line {
    std::string text, prefix;
    Terms terms;
    std::shared_ptr<const DecodeConfig> search;  // null: as the others
    std::vector<Part> parts;                     // none for an empty line
    std::size_t words = 0;
    std::size_t missing = 0;  // parts that are not finished
    TranslationFacts facts;
  };

  std::shared_ptr<const DecodeConfig> search_of(const LineInput& line) const;
  const DecodeConfig& config_of(const Line& line) const {
    return line.search ? *line.search : config_;
  }
  std::vector<SourceSentence> make_sentences(Line& line, std::int64_t number);
  std::string_view tag_of(std::string_view text) const;
  void place_words(std::string_view line, std::span<const std::size_t> starts, Part& part) const;
  void require_prefix(std::string_view prefix, std::vector<SourceSentence>& sentences) const;
  bool asks_again(Part& part, std::vector<Hypothesis> hypotheses) const;
  std::vector<TokenId> mark_terms(Part& part) const;
  SourceSentence demanding(const Line& line, std::int64_t number, std::size_t part) const;
  TranslatedText join(const Line& line, std::size_t rank) const;
  void append_words(const Line& line, const Part& part, const Hypothesis& hypothesis,
                    std::vector<TranslatedWord>& words) const;

  const Tokenizer& source_;
  const Tokenizer& target_;
  const DecodeConfig& config_;
  const Demands& demands_;
  std::int64_t most_pieces_;
  std::set<std::string, std::less<>> tags_;  // user-defined pieces
  bool knows_terms_;                         // the model: see MarkedText
  std::deque<Line> lines_;
  std::int64_t first_line_;  // number of lines_.front()
  TranslationFacts facts_;
};

}  // namespace dragoman
