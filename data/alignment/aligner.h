// Word alignment without a translation model: learns from a parallel text which words translate
// each other, and links the words of pairs. Both directions are hidden Markov models
// (hidden_markov.h) that learn together: an expected link is the product of what the two directions
// give it (alignment by agreement: Liang, Taskar and Klein 2006). Links are decided by the
// posterior probabilities of each direction, and symmetrised (links.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "data/alignment/hidden_markov.h"
#include "data/alignment/lexical_table.h"
#include "data/alignment/links.h"
#include "data/alignment/words.h"

namespace dragoman {

/// Pairs with a longer side, in words or pieces, are neither learned from nor aligned.
inline constexpr std::size_t kLongestAligned = 1024;

/// The most pairs that are learned from. In a larger text they are evenly spaced.
inline constexpr std::int64_t kMostLearned = 2'000'000;

struct AlignerTraining {
  std::int64_t word_rounds = 4;  ///< of IBM model 1, which knows no positions; after the first
  std::int64_t rounds = 4;       ///< of hidden Markov models
  int threads = 1;               ///< the result does not depend on it
  std::stop_token stop = {};     ///< see Aligner
  /// Called from the calling thread with pairs, added up over all rounds. May be empty.
  std::function<void(std::int64_t done, std::int64_t total)> report = {};
};

/// A link and its probability: the geometric mean of those of both directions.
struct LinkProbability {
  WordLink link;
  float probability;
};

struct AlignedPair {
  std::vector<LinkProbability> links;  ///< in order
  /// The log-probability of each side given the other, per word, and the mean of the two. 0 if a
  /// side is empty or too long.
  double log_probability = 0;
  /// How much more probable the words of each side are given the other side than alone, as a log
  /// per word, and the mean of the two. The pair counts as one that was learned from, so what only
  /// it could have taught is left out, and a word that hardly another pair has says little. As a
  /// rule, sides that translate each other have more than 1, and others less than 0. At least
  /// -1.61, the log of kNullProbability. 0 as above.
  double evidence = 0;
};

class Aligner {
 public:
  /// Learns from these pairs, or kMostLearned of them. After a stop it returns early, with what is
  /// known by then. Takes about 18 bytes of memory for each entry of its LexicalTable.
  Aligner(const NumberedPairs& pairs, const AlignerTraining& training);

  /// A pair, which need not be one that was learned from. Unknown words are linked by their
  /// positions. A pure function; any thread may call it.
  AlignedPair align(std::span<const WordId> source, std::span<const WordId> target,
                    Symmetrization how) const;

  const LexicalTable& table() const { return table_; }

 private:
  class PairWork;
  struct Jumps {
    JumpCounts forward, backward;
  };

  Aligner(const NumberedPairs& pairs, const std::vector<std::uint32_t>& chosen,
          const AlignerTraining& training);
  /// A round: counts the expected links and jumps of the chosen pairs.
  Jumps count_links(const NumberedPairs& pairs, const std::vector<std::uint32_t>& chosen,
                    const AlignerTraining& training,
                    const std::function<void(std::int64_t done)>& report);

  LexicalTable table_;
  JumpWeights forward_ = JumpWeights::uniform();   ///< of target words over source words
  JumpWeights backward_ = JumpWeights::uniform();  ///< of source words over target words
};

}  // namespace dragoman
