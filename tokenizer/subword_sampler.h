// Segmenting text at random, so that a model learns each word from many segmentations: BPE-dropout
// (Provilkov et al. 2020) for BPE models, sampling from the language model of the pieces (Kudo
// 2018) for unigram models. A segmentation is a pure function of text and key, while
// SentencePiece's SampleEncode takes random numbers from a generator of the thread. SampleEncode
// also never makes a merge of BPE that it has once left out, while the paper draws again at each
// step. So it cuts words into more pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The pieces of a vocabulary in a trie, to find all pieces that a text starts with.
class PieceTrie {
 public:
  void add(std::string_view piece, TokenId id);
  std::optional<TokenId> find(std::string_view piece) const;

  /// Calls visit(bytes, id) for each piece that `text` starts with, the shortest first.
  template <class Visit>
  void for_each_prefix(std::string_view text, Visit&& visit) const {
    std::uint32_t node = kRoot;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, text[i]);
      if (node == kNoNode) return;
      if (ids_[node] != kNoPiece) visit(i + 1, ids_[node]);
    }
  }

 private:
  static constexpr std::uint32_t kRoot = 1, kNoNode = 0;
  static constexpr TokenId kNoPiece = -1;
  /// An edge of the trie in the hash table; free if `child` is kNoNode.
  struct Edge {
    std::uint64_t from = 0;  ///< node and byte
    std::uint32_t child = kNoNode;
  };

  static std::uint64_t edge_of(std::uint32_t node, char byte) {
    return std::uint64_t{node} << 8 | static_cast<unsigned char>(byte);
  }
  /// The index of an edge, or the free index where it belongs.
  std::size_t index_of(std::uint64_t edge) const {
    std::size_t index = mix64(edge) & (edges_.size() - 1);
    while (edges_[index].child != kNoNode && edges_[index].from != edge)
      index = (index + 1) & (edges_.size() - 1);
    return index;
  }
  std::uint32_t child(std::uint32_t node, char byte) const {
    return edges_[index_of(edge_of(node, byte))].child;
  }
  void grow();

  std::vector<TokenId> ids_ = {kNoPiece, kNoPiece};  ///< [nodes]
  std::vector<Edge> edges_ = std::vector<Edge>(64);  ///< a power of two, at most half of it in use
};

/// The pieces that text can be made of, and their scores.
struct ScoredPieces {
  PieceTrie trie;
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
  /// How many tokens do not change, from the first on.
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
