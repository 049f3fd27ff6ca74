// Segmenting text at random, so that a model learns each word from many segmentations: BPE-dropout
// (Provilkov et al. 2020) for BPE models, sampling from the language model of the pieces (Kudo
// 2018) for unigram models. A segmentation is a pure function of text and key, while
// SentencePiece's SampleEncode takes random numbers from a generator of the thread. SampleEncode
// also never makes a merge of BPE that it has once left out, while the paper draws again at each
// step. So it cuts words into more pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The pieces of a vocabulary by their texts.
class PieceTable {
 public:
  void add(const std::string& piece, TokenId id) {
    for (std::size_t size = 1; size < piece.size(); ++size) ids_.try_emplace(piece.substr(0, size));
    ids_[piece] = id;
  }
  std::optional<TokenId> find(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? std::nullopt : found->second;
  }

  /// Calls visit(bytes, id) for each piece that `text` starts with, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit&& visit) const {
    for (std::size_t size = 1; size <= text.size(); ++size) {
      const auto found = ids_.find(text.substr(0, size));
      if (found == ids_.end()) return;
      if (found->second) visit(size, *found->second);
    }
  }

 private:
  // None: not a piece, but a piece begins with it.
  std::unordered_map<std::string, std::optional<TokenId>, TextHash<char>, std::equal_to<>> ids_;
};

/// The pieces that text can be made of, and their scores.
struct ScoredPieces {
  PieceTable table;
  std::vector<double> scores;  ///< [V]
  double lowest_score = 0;
};

/// Merges characters as byte-pair encoding does: the pair of the highest score first, the left one
/// of equal pairs. At each step every merge is left out with probability `dropout` (the paper's
/// algorithm 1). It ends at the first step that leaves all merges out.
std::vector<std::string_view> bpe_with_dropout(const ScoredPieces& pieces, std::string_view text,
                                               double dropout, RandomStream& random);

/// Draws a segmentation with a probability proportional to exp(alpha * sum of the scores), by
/// forward filtering and backward sampling. A character without a piece has the lowest score less
/// 10, as in SentencePiece.
std::vector<std::string_view> unigram_sample(const ScoredPieces& pieces, std::string_view text,
                                             double alpha, RandomStream& random);

class SubwordSampler {
 public:
  /// `strength`, above 0 and up to 1, is the dropout of BPE or the alpha of unigram (at 1
  /// segmentations have the model's probabilities, towards 0 they become equally probable). Throws
  /// Error if the tokenizer is of neither kind.
  SubwordSampler(std::shared_ptr<const Tokenizer> tokenizer, double strength);

  /// Segments the text of `tokens` again. `tokens` are the tokenizer's encoding of it. User-defined
  /// symbols and an escaped U+2581 (TokenizerFacts::escapes) stay whole. Unknown tokens do not
  /// change, as their text is lost.
  std::vector<TokenId> sample(std::span<const TokenId> tokens, std::uint64_t key) const;

 private:
  /// The number of tokens at the beginning that do not change.
  std::size_t unchanged_tokens(std::span<const TokenId> tokens) const;
  void append_sample(std::string_view text, RandomStream& random,
                     std::vector<TokenId>& tokens) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  double strength_;
  bool bpe_ = false;
  ScoredPieces pieces_;
  std::vector<std::string> texts_;  ///< [V] the text of a piece; "" if it must not change
  std::vector<TokenId> bytes_;      ///< [256] pieces of single bytes, if there are any
};

}  // namespace dragoman
