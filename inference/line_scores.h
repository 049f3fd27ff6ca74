// The probability of the translations of lines: the lines become pairs of sentences, whose scores
// are put together again.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/sentence_pair.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// Log-probabilities of the target tokens of each pair, as forced_scores() gives them.
using PairScorer = std::function<std::vector<std::vector<float>>(
    std::span<const SentencePair> pairs, const std::stop_token& stop)>;

struct Pairing {
  /// Sentences of a line are scored one by one, where both sides have the same number.
  bool by_sentence = false;
  int threads = 1;
};

/// The pairs that each line and its translation are scored as; white space around them does not
/// count. There are as many targets as sources.
std::vector<std::vector<SentencePair>> pairs_of_lines(const TokenizerPair& tokenizers,
                                                      std::span<const std::string> sources,
                                                      std::span<const std::string> targets,
                                                      const Pairing& pairing);

/// Of the tokens of each line's translation: those of its pairs, one behind the other. After a stop
/// they may be incomplete.
std::vector<std::vector<float>> scores_of_lines(std::vector<std::vector<SentencePair>> lines,
                                                const PairScorer& scorer,
                                                const std::stop_token& stop);

}  // namespace dragoman
