// Turns a line of text into sentences to search for: repairs UTF-8, splits, tokenizes, and finds
// the texts that the translation must have. A PreparedLine is the line while it is being
// translated: its parts, and the hypotheses that were found for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unicode.h"
#include "inference/scheduler.h"
#include "inference/search/search.h"
#include "inference/sentence_cache.h"
#include "inference/split.h"
#include "inference/translation.h"
#include "inference/unseen_text.h"
#include "model/file/model_file.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/translatable.h"

namespace dragoman {

/// A stretch of a line that is copied.
struct CopiedStretch {
  std::string text = {};  ///< with the white space between it and the text that is translated
  std::size_t begin = 0;  ///< in the line, in bytes
};

/// The n-best list of a search while it is filled so as to hold each text once: two hypotheses may
/// have the same text in different pieces. Wider searches fill the list up.
struct NBestList {
  SourceSentence sentence;                  ///< without its receiver
  std::vector<Hypothesis> hypotheses = {};  ///< of different texts, best first
  std::vector<std::string> texts{};         ///< those of the hypotheses
  std::size_t wanted = 0;  ///< the number of hypotheses that the first search has found
  int wider_searches = 0;
};

/// A part of a line that is translated by itself.
struct PreparedPart {
  LinePart text = {};                   ///< views of the line's text, without `before` and `after`
  std::vector<std::size_t> words = {};  ///< [source pieces]: word of the line; for attention only
  std::string_view tag = {};            ///< in front of its text
  UnseenText unseen = {};               ///< the parts of its text that the model has never seen
  MarkedText marked = {};               ///< the text as the model reads it
  /// The pieces of `marked`, then those of the tag; only with copies.
  std::vector<PieceSpan> pieces = {};
  RequiredPrefix prefix = {};               ///< of its translation
  std::string prefix_text = {};             ///< the prefix as it was given
  std::vector<RequiredText> required = {};  ///< texts that its translation must have
  std::vector<RequiredText> unmet = {};     ///< those that the best of `hypotheses` lacks
  std::vector<RequiredText> searched = {};  ///< texts of `required` that a search got as phrases
  /// The search whose hypotheses come next: without required texts, with them in the place of
  /// words of the first translation, or with them as phrases.
  enum class Stage { Free, Replaced, Phrases } stage = Stage::Free;
  std::optional<Hypothesis> free = {};  ///< the first translation, if it lacks a required text
  std::optional<SentenceCache::Key> cache_key = {};  ///< the key to keep its hypotheses by
  std::optional<NBestList> n_best = {};              ///< of a search under way
  std::vector<Hypothesis> hypotheses = {};
  /// The signs at the ends of its text, which are copied to the ends of the translation. If there
  /// is nothing to translate, `before` is the whole text.
  CopiedStretch before = {}, after = {};
};

/// A line that is being translated. It cannot be copied or moved: its parts have views of `text`.
struct PreparedLine {
  PreparedLine(std::int64_t its_number, std::shared_ptr<const PreparedRequest> its_request)
      : number(its_number), request(std::move(its_request)) {}
  PreparedLine(const PreparedLine&) = delete;
  PreparedLine& operator=(const PreparedLine&) = delete;

  std::int64_t number;
  std::shared_ptr<const PreparedRequest> request;
  std::string text = {};    ///< valid UTF-8
  std::string prefix = {};  ///< the text that its translation begins with
  Terms terms = {};
  std::vector<ByteRange> kept = {};      ///< LineInput::kept
  std::vector<PreparedPart> parts = {};  ///< none for an empty line
  std::size_t words = 0;                 ///< number of words in `text`; for attention only
  TranslationFacts facts = {};
};

/// The tags that may stand in front of a line: user-defined pieces such as "<bt>" and ">>fra<<".
class LineTags {
 public:
  explicit LineTags(const Tokenizer& source);
  /// The tag in front of a text ("<bt> one two"), which has no white space at its start; empty if
  /// there is none.
  std::string_view tag_of(std::string_view text) const;

 private:
  std::set<std::string, std::less<>> tags_;
};

/// Lines of a source text with characters that the model has never seen.
struct UnseenLines {
  std::int64_t count = 0;
  std::int64_t first = 0;  ///< from 1
};
/// The lines whose text, as the tokenizer reads it, is not all in `seen`. Their tags are not text.
UnseenLines unseen_lines(const Tokenizer& source, const CharacterSet& seen,
                         std::span<const std::string> lines);

/// The sentence to search for: a part of the line whose source has these pieces.
SourceSentence sentence_of(const PreparedLine& line, std::size_t part, std::vector<TokenId> pieces,
                           const TokenizerPair& tokenizers);

/// Lines whose sentences are finished in any order leave in the order in which they came.
class LineOrder {
 public:
  /// Adds the next line. A line without sentences is finished at once.
  void add(std::size_t sentences) { unfinished_.push_back(sentences); }
  /// Notes that one of the line's sentences is finished; lines are counted from 0.
  void finish(std::size_t line) { --unfinished_[line]; }

  /// The number of lines that have not left.
  std::size_t left() const { return unfinished_.size() - next_; }
  /// Whether the next line may leave.
  bool ready() const { return left() > 0 && unfinished_[next_] == 0; }
  /// Removes the next line and returns its index. Requires ready().
  std::size_t take() { return next_++; }

 private:
  std::vector<std::size_t> unfinished_;  // sentences of each line
  std::size_t next_ = 0;
};

class LinePreparer {
 public:
  /// Thrown if a stop is requested while a line is prepared.
  struct Stopped {};

  /// `max_positions` are the engine's, `record` is the model's. Many threads may call its functions
  /// at once.
  LinePreparer(TokenizerPair tokenizers, std::int64_t max_positions, TextRecord record);

  /// Fills `line`, which has a number and a request, and returns its sentences: one; several if the
  /// line is split; none if it is empty or has nothing to translate. Throws Stopped if the stop is
  /// requested before it is done.
  std::vector<SourceSentence> prepare(LineInput input, PreparedLine& line,
                                      const std::stop_token& stop = {}) const;

 private:
  std::int64_t most_pieces(const PreparedLine& line) const;
  void split(PreparedLine& line, std::string_view text, std::string_view tag,
             const std::stop_token& stop) const;
  bool copies(const PreparedLine& line, std::string_view text) const;
  void copy(const PreparedLine& line, PreparedPart& part) const;
  void find_unseen(const PreparedLine& line, PreparedPart& part) const;
  std::vector<TokenId> mark(const PreparedLine& line, PreparedPart& part) const;
  void find_words(std::string_view line, std::span<const ByteRange> words,
                  PreparedPart& part) const;
  void require_prefix(PreparedLine& line, std::vector<SourceSentence>& sentences) const;
  TokenizerPair tokenizers_;
  std::int64_t max_positions_;
  TextRecord record_;
  LineTags tags_;
  bool knows_terms_;  // whether the model has learned MarkedText
};

}  // namespace dragoman
