// Makes sentences for the search of a line of text: repairs UTF-8, splits, tokenizes, and finds the
// texts that the translation must have.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/character_set.h"
#include "inference/prepared_line.h"
#include "inference/sentence.h"
#include "tokenizer/tokenizer_pair.h"
#include "tokenizer/translatable.h"

namespace dragoman {

class LinePreparer {
 public:
  /// Thrown if a stop is requested while a line is prepared.
  struct Stopped {};

  struct Model {
    std::int64_t max_positions;               ///< Engine::max_positions
    std::optional<double> several_sentences;  ///< splits_sentences()
    CopiedFractions copied_fractions = {};    ///< copies()
    /// The characters of the source side that the model has seen; null: not known.
    std::shared_ptr<const CharacterSet> seen = nullptr;
  };
  /// Many threads may call its functions at once.
  LinePreparer(TokenizerPair tokenizers, const Model& model);

  /// Fills `line`, which has a number and a request, and returns its sentences: one; several if the
  /// line is split; none if it is empty or has nothing to translate. Throws Stopped if the stop is
  /// requested before it is done.
  std::vector<SourceSentence> prepare(LineInput input, PreparedLine& line,
                                      const std::stop_token& stop = {}) const;

 private:
  std::string_view tag_of(std::string_view text) const;
  std::int64_t most_pieces(const PreparedLine& line) const;
  void split(PreparedLine& line, std::string_view text, std::string_view tag,
             const std::stop_token& stop) const;
  bool copies(const PreparedLine& line, std::string_view text) const;
  void copy(const PreparedLine& line, std::string_view tag, PreparedPart& part) const;
  void find_unseen(const PreparedLine& line, std::string_view tag, PreparedPart& part) const;
  std::vector<TokenId> mark(const PreparedLine& line, PreparedPart& part) const;
  void find_words(std::string_view line, std::span<const std::size_t> starts,
                  PreparedPart& part) const;
  void require_prefix(PreparedLine& line, std::vector<SourceSentence>& sentences) const;
  TokenizerPair tokenizers_;
  Model model_;
  std::set<std::string, std::less<>> tags_;  // user-defined pieces of the source that are tags
  bool knows_terms_;                         // whether the model has learned MarkedText
};

}  // namespace dragoman
