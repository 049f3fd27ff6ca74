// Makes sentences for the search of a line of text: repairs UTF-8, splits, tokenizes, and finds the
// texts that the translation must have. If the translation lacks some of them, two others are made:
// the same with these texts in the place of words (with_words_replaced), and one that is searched
// for with the texts as required phrases; once more, if that loses another one. The best is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/prepared_line.h"
#include "inference/sentence.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

class LinePreparer {
 public:
  struct Model {
    std::int64_t max_positions;               ///< Engine::max_positions
    std::optional<double> several_sentences;  ///< splits_sentences()
  };
  /// Many threads may call its functions at once.
  LinePreparer(TokenizerPair tokenizers, const Model& model);

  /// Fills `line`, which has a number and a request, and returns its sentences: one; several if the
  /// line is split; none if it is empty.
  std::vector<SourceSentence> prepare(LineInput input, PreparedLine& line) const;

  /// Takes the hypotheses of a search (PreparedPart::stage). Keeps them if they are the part's
  /// first, or better than those kept before: with more of the required texts, or with as many and
  /// a more probable rest. Returns the sentence for the next search, if there is to be one. Threads
  /// may call it at once for different parts of a line.
  std::optional<SourceSentence> keep_or_search_again(PreparedLine& line, std::size_t part,
                                                     std::vector<Hypothesis> hypotheses) const;

 private:
  std::string_view tag_of(std::string_view text) const;
  std::int64_t most_pieces(const PreparedLine& line) const;
  void split(PreparedLine& line, std::string_view text, std::string_view tag) const;
  std::vector<TokenId> mark_terms(const PreparedLine& line, PreparedPart& part) const;
  void find_words(std::string_view line, std::span<const std::size_t> starts,
                  PreparedPart& part) const;
  void require_prefix(PreparedLine& line, std::vector<SourceSentence>& sentences) const;
  std::size_t count_pieces(const std::vector<RequiredText>& texts) const;
  void keep_if_better(const PreparedLine& line, PreparedPart& part,
                      std::vector<Hypothesis> hypotheses,
                      const std::vector<RequiredText>& unmet) const;
  bool has_unknown_texts(const PreparedPart& part) const;
  SourceSentence sentence_with_phrases(const PreparedLine& line, std::size_t part) const;
  std::optional<SourceSentence> sentence_with_words_replaced(const PreparedLine& line,
                                                             std::size_t part) const;

  /// The sentence of a part of the line, of its pieces.
  SourceSentence sentence_of(const PreparedLine& line, std::size_t part,
                             std::vector<TokenId> pieces) const;

  TokenizerPair tokenizers_;
  Model model_;
  std::set<std::string, std::less<>> tags_;  // user-defined pieces of the source that are tags
  bool knows_terms_;                         // whether the model has learned MarkedText
};

}  // namespace dragoman
