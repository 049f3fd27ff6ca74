// Leads to a translation that has the texts that it must have. If the first one lacks some of them,
// two others are made: the same with these texts in the place of words (with_words_replaced), and
// one that is searched for with the texts as required phrases; once more, if that loses another
// one. The best is kept.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "inference/prepared_line.h"
#include "inference/search/search.h"
#include "inference/sentence.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// The terms of a sentence that are searched for have at most as many pieces as the sentence has
/// bytes, and so many more. Terms beyond that stay unmet.
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
