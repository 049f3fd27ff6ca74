// The probability that an engine gives to translations that are already there (forced decoding).
// The engine takes the steps of a search, but each row goes on with the translation's own token.
#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "inference/search/engine.h"

namespace dragoman {

/// A sentence and its translation; both end with </s>.
struct SentencePair {
  std::vector<TokenId> source, target;
};

/// Log-probability, to base e, of each target token given those before it and the source: one list
/// per pair, as long as its target. The engine works on Engine::preferred_rows() pairs at a time,
/// and must hold no other sentence. After a stop the lists of the pairs that were not finished are
/// empty. Throws Error for a side that is longer than Engine::max_positions().
std::vector<std::vector<float>> forced_scores(Engine& engine, std::span<const SentencePair> pairs,
                                              const std::stop_token& stop = {});

}  // namespace dragoman
