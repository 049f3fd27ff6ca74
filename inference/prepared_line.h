// A line that is being translated: its parts, and the hypotheses that were found for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/search/search.h"
#include "inference/sentence.h"
#include "inference/sentence_cache.h"
#include "inference/split.h"
#include "inference/translation.h"
#include "inference/translation_request.h"
#include "inference/unseen_text.h"
#include "tokenizer/term_marks.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// A stretch of a line that is copied.
struct CopiedStretch {
  std::string text = {};  ///< with the white space between it and the text that is translated
  std::size_t begin = 0;  ///< in the line, in bytes
};

/// The n-best list of a search, while it is made to hold each text once. Two hypotheses may have
/// the same text in different pieces. Wider searches fill the list up.
struct NBestList {
  SourceSentence sentence;                  ///< without its receiver
  std::vector<Hypothesis> hypotheses = {};  ///< of different texts, best first
  std::vector<std::string> texts{};         ///< theirs
  std::size_t wanted = 0;                   ///< hypotheses that the first search has found
  int wider_searches = 0;
};

/// A part of a line that is translated by itself.
struct PreparedPart {
  LinePart text = {};                   ///< views of the line's text, without `before` and `behind`
  std::vector<std::size_t> words = {};  ///< [source pieces]: word of the line; for attention only
  std::string_view tag = {};            ///< in front of its text
  UnseenText unseen = {};               ///< the parts of its text that the model has never seen
  MarkedText marked = {};               ///< the text as the model reads it
  std::vector<PieceSpan> pieces = {};   ///< of `marked`; only with copies
  RequiredPrefix prefix = {};           ///< of its translation
  std::string prefix_text = {};         ///< the same as it was given
  std::vector<RequiredText> required = {};  ///< texts that its translation must have
  std::vector<RequiredText> unmet = {};     ///< texts of `required` that `hypotheses` [0] lacks
  std::vector<RequiredText> searched = {};  ///< texts of `required` that a search got as phrases
  /// The search whose hypotheses come next: without required texts, with them in the place of
  /// words of the first translation, or with them as phrases.
  enum class Stage { Free, Replaced, Phrases } stage = Stage::Free;
  std::optional<Hypothesis> free = {};  ///< the first translation, if it lacks a required text
  std::optional<SentenceCache::Key> cache_key = {};  ///< under which its hypotheses are kept
  std::optional<NBestList> n_best = {};              ///< of a search under way
  std::vector<Hypothesis> hypotheses = {};
  /// Around the translation: the signs at the ends of its text. If there is nothing to translate,
  /// `before` is the whole text.
  CopiedStretch before = {}, behind = {};
};

/// Neither copied nor moved: its parts have views of `text`.
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
  std::vector<PreparedPart> parts = {};  ///< none for an empty line
  std::size_t words = 0;                 ///< number of words in `text`; for attention only
  TranslationFacts facts = {};
};

/// A text behind its tag ("<bt> one two"), as training writes them; "": no tag.
std::string tagged(std::string_view tag, std::string_view text);
/// The sentence to search for: that of a part of the line, whose source has these pieces.
SourceSentence sentence_of(const PreparedLine& line, std::size_t part, std::vector<TokenId> pieces,
                           const TokenizerPair& tokenizers);

}  // namespace dragoman
