// The probability that engines give to translations that are already there (forced decoding). An
// engine takes the steps of a search, but each row goes on with the translation's own token.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "inference/search/engine.h"
#include "inference/sentence_pair.h"

namespace dragoman {

/// The size of the batches; it changes speed and memory, not the scores.
struct ForcedBatches {
  std::int64_t max_tokens = 0;  ///< of each side, on all engines; 0: as many as suit the engines
};

/// Log-probability, to base e, of each target token given those before it and the source: one list
/// per pair, as long as its target. The engines are of the same model, and each works on a thread
/// of its own, on up to Engine::preferred_rows() pairs at a time. They must hold no other sentence.
/// After a stop the lists of the pairs that were not finished are empty. Throws Error for a side
/// that is longer than Engine::max_positions().
std::vector<std::vector<float>> forced_scores(std::span<Engine* const> engines,
                                              std::span<const SentencePair> pairs,
                                              const ForcedBatches& batches = {},
                                              const std::stop_token& stop = {});

}  // namespace dragoman
