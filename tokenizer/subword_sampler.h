// Segmenting text at random, so that a model learns each word from many segmentations: BPE-dropout
// (Provilkov et al. 2020) for BPE models, sampling from the language model of the pieces (Kudo
// 2018) for unigram models. SentencePiece's SampleEncode takes its random numbers from a generator
// of the thread; here a segmentation is a pure function of text and key. It also leaves a merge of
// BPE out for good where the paper draws again at each step, and so cuts words into more pieces.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tokenizer/piece_trie.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The pieces that text can be made of, and what they are worth.
struct ScoredPieces {
  PieceTrie trie;
  std::vector<double> scores;  ///< [V]
  double lowest_score = 0;
};

/// Merges characters as byte-pair encoding does, the pair of the highest score first, the left one
/// of equals; but at each step every merge is left out with probability `dropout` (the paper's
/// algorithm 1), and where all are, it ends.
std::vector<std::string_view> bpe_with_dropout(const ScoredPieces& pieces, std::string_view text,
                                               double dropout, RandomStream& random);

/// Draws a segmentation with a probability proportional to exp(alpha * sum of the scores), by
/// forward filtering and backward sampling. A character without a piece is worth 10 less than the
/// lowest score, as in SentencePiece.
std::vector<std::string_view> unigram_sample(const ScoredPieces& pieces, std::string_view text,
                                             double alpha, RandomStream& random);

class SubwordSampler {
 public:
  /// `strength`, above 0, up to 1: of BPE the dropout, of unigram alpha (1: as probable as the
  /// model has it; towards 0: any like any other). Throws Error where the tokenizer is of neither
  /// kind.
  SubwordSampler(std::shared_ptr<const Tokenizer> tokenizer, double strength);

  /// The text of `tokens`, which are the tokenizer's encoding of it, segmented anew. User-defined
  /// symbols stay whole, and unknown tokens, whose text is lost, as they are.
  std::vector<TokenId> sample(std::span<const TokenId> tokens, std::uint64_t key) const;

 private:
  void append_sample(std::string_view text, RandomStream& random,
                     std::vector<TokenId>& tokens) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  double strength_;
  bool bpe_ = false;
  ScoredPieces pieces_;
  std::vector<std::string> texts_;  ///< [V] what a piece stands for; "" where it stays as it is
  std::vector<TokenId> bytes_;      ///< [256] pieces of single bytes, where there are any
};

}  // namespace dragoman
