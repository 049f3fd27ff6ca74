// The probability that a model gives to given translations (forced decoding).
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "inference/forced_scores.h"
#include "model/transformer.h"

namespace dragoman {

/// The log-probability, to base e, of each target token given those before it and the source: one
/// list per pair, as long as its target. Pairs go through the model in batches of similar lengths,
/// whose sides have up to `max_tokens` tokens each, or one pair that is longer. The other pairs of
/// a batch change its values by rounding only. After a stop the lists of the pairs that were not
/// reached are empty. Throws Error for a sentence longer than the learned positions of the model.
std::vector<std::vector<float>> token_log_probabilities(Transformer& model,
                                                        std::span<const SentencePair> pairs,
                                                        std::int64_t max_tokens,
                                                        std::stop_token stop = {});

}  // namespace dragoman
