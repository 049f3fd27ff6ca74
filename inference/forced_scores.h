// The probability of translations that are already there (forced decoding). An engine takes the
// steps of a search, but each row continues with the translation's own token. Lines become pairs of
// sentences, whose scores are joined again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "inference/search/engine.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The tokens of both sides, as the model reads them: TokenizerPair::source_tokens() and
/// target_tokens().
struct SentencePair {
  std::vector<TokenId> source, target;
};

/// The number of tokens of the longer side.
inline std::int64_t longer_side(const SentencePair& pair) {
  return static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size()));
}

/// Throws Error for a side with more tokens than the model has positions, `most`.
void check_lengths(std::span<const SentencePair> pairs, std::int64_t most);

/// The most tokens of one worker (a thread or an engine) if all workers together have `max_tokens`.
/// With fewer than 512, its products would be small and slow.
inline std::int64_t tokens_of_worker(std::int64_t max_tokens, std::int64_t workers) {
  return std::max(std::min<std::int64_t>(max_tokens, 512), max_tokens / workers);
}

/// The size of the batches. It changes speed and memory, not the scores.
struct ForcedBatches {
  std::int64_t max_tokens = 0;  ///< of each side, on all engines; 0: as many as suit the engines
};

/// The log-probability, to base e, of each target token given those before it and the source: one
/// list per pair, as long as its target. The engines are of the same model, and each works on a
/// thread of its own, on up to HostEngine::preferred_rows() pairs at a time. They must hold no
/// other sentence. After a stop the lists of the pairs that were not finished are empty. Throws
/// Error for a side that is longer than HostEngine::max_positions().
std::vector<std::vector<float>> forced_scores(std::span<HostEngine* const> engines,
                                              std::span<const SentencePair> pairs,
                                              const ForcedBatches& batches = {},
                                              const std::stop_token& stop = {});

/// Returns the log-probabilities of the target tokens of each pair, as forced_scores() does.
using PairScorer = std::function<std::vector<std::vector<float>>(
    std::span<const SentencePair> pairs, const std::stop_token& stop)>;

struct Pairing {
  /// Scores the sentences of a line one by one, if both sides have the same number.
  bool by_sentence = false;
  int threads = 1;
};

/// The pairs that each line and its translation are scored as; white space around them does not
/// count. There are as many targets as sources.
std::vector<std::vector<SentencePair>> pairs_of_lines(const TokenizerPair& tokenizers,
                                                      std::span<const std::string> sources,
                                                      std::span<const std::string> targets,
                                                      const Pairing& pairing);

/// The scores of the tokens of each line's translation: those of its pairs, one after the other.
/// After a stop they may be incomplete.
std::vector<std::vector<float>> scores_of_lines(std::vector<std::vector<SentencePair>> lines,
                                                const PairScorer& scorer,
                                                const std::stop_token& stop);

}  // namespace dragoman
