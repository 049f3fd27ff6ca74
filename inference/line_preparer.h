// From a line's text to the sentences that are searched for: repairs UTF-8, splits, encodes, finds
// what the translation must have. A translation that lacks some of it is searched for once more,
// with that as a demand of the search.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/prepared_line.h"
#include "inference/scheduler.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

class LinePreparer {
 public:
  struct Model {
    std::int64_t max_positions;               ///< Engine::max_positions
    std::optional<double> several_sentences;  ///< splits_sentences()
  };
  /// The tokenizers must outlive the preparer. All may be called from many threads at once.
  LinePreparer(const Tokenizer& source, const Tokenizer& target, const Model& model);

  /// Fills in `line`, which has a number and a request, and returns its sentences: one, more where
  /// it has several or is too long, none where it is empty.
  std::vector<SourceSentence> prepare(LineInput input, PreparedLine& line) const;

  /// Takes what the search has found for a part of the line, unless it lacks more than what was
  /// found before. What it lacks and was not asked for yet is to be searched for.
  std::optional<SourceSentence> take(PreparedLine& line, std::size_t part,
                                     std::vector<Hypothesis> hypotheses) const;

 private:
  std::string_view tag_of(std::string_view text) const;
  std::int64_t most_pieces(const PreparedLine& line) const;
  void split(PreparedLine& line, std::string_view text, std::string_view tag) const;
  std::vector<TokenId> mark_terms(const PreparedLine& line, PreparedPart& part) const;
  void place_words(std::string_view line, std::span<const std::size_t> starts,
                   PreparedPart& part) const;
  void require_prefix(std::string_view prefix, std::vector<SourceSentence>& sentences) const;
  SourceSentence demanding(const PreparedLine& line, std::size_t part) const;

  const Tokenizer& source_;
  const Tokenizer& target_;
  Model model_;
  std::set<std::string, std::less<>> tags_;  // user-defined pieces
  bool knows_terms_;                         // the model: see MarkedText
};

}  // namespace dragoman
