// Finds a translation that has all required texts. If the first one lacks some of them, two others
// are made: the first one with these texts in the place of words (with_words_replaced), and one
// that is searched for with the texts as required phrases (phrases_of). If that one lacks another
// text, the search is repeated once. The best translation is kept.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/line_preparer.h"
#include "inference/scheduler.h"
#include "inference/search/required_phrases.h"
#include "inference/search/search.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Makes phrases for the search of texts that a translation must have: their pieces, for each way
/// in which they may begin, and the source positions that they translate. `texts` have byte ranges
/// in `source`. `hypothesis` is a translation of `source` without these texts, with attention.
RequiredPhrases phrases_of(const std::vector<RequiredText>& texts, std::string_view source,
                           const Hypothesis& hypothesis, const Tokenizer& source_tokenizer,
                           const Tokenizer& target_tokenizer);

/// The hypothesis with each of the texts in the place of the word that attention says it stands for
/// (RequiredPhrase::begin, end); all else stays as it is. Returns tokens without </s>; none if no
/// word can be replaced, or the tokenizer cannot write the text. `phrases` are those of the texts.
std::vector<TokenId> with_words_replaced(const std::vector<RequiredText>& texts,
                                         const RequiredPhrases& phrases,
                                         const Hypothesis& hypothesis, const Tokenizer& tokenizer);

/// The changes that a translation needs to have its copied texts as they are. The tokenizer may
/// have written them differently: "10⁴" as "104", a no-break space as a blank. They are in the
/// order of the translation and do not overlap.
std::vector<TextChange> exact_texts(std::string_view translation,
                                    const std::vector<RequiredText>& texts,
                                    const Tokenizer& tokenizer);
/// The translation with these changes.
std::string with_exact_texts(std::string_view translation, const std::vector<RequiredText>& texts,
                             const Tokenizer& tokenizer);

/// The terms of a sentence that are searched for have at most this many pieces more than the
/// sentence has bytes. Terms beyond that stay unmet.
inline constexpr std::size_t kMostTermPieces = 256;

class RequiredTextSearch {
 public:
  /// Many threads may call its functions at once.
  explicit RequiredTextSearch(TokenizerPair tokenizers) : tokenizers_(std::move(tokenizers)) {}

  /// Takes the hypotheses of a search (PreparedPart::stage). Keeps them if they are the part's
  /// first, or better than those kept before: with more of the required texts, or with as many and
  /// a more probable rest. Returns the sentence for the next search, if there is to be one. Threads
  /// may call it at once for different parts of a line.
  std::optional<SourceSentence> keep_or_search_again(PreparedLine& line, std::size_t part,
                                                     std::vector<Hypothesis> hypotheses) const;

 private:
  void add_searched(PreparedPart& part, const std::vector<RequiredText>& unmet) const;
  std::size_t count_pieces(const std::vector<RequiredText>& texts) const;
  void keep_if_better(const PreparedLine& line, PreparedPart& part,
                      std::vector<Hypothesis> hypotheses,
                      const std::vector<RequiredText>& unmet) const;
  bool has_unknown_texts(const PreparedPart& part) const;
  SourceSentence sentence_with_phrases(const PreparedLine& line, std::size_t part) const;
  std::optional<SourceSentence> sentence_with_words_replaced(const PreparedLine& line,
                                                             std::size_t part) const;

  TokenizerPair tokenizers_;
};

}  // namespace dragoman
