// Many numbers as a JSON object with a text, as the page of an explanation reads them
// (extras/report/page/explanation_blocks.js). The text has a number in one digit or three of the 64
// of base64 (RFC 4648, table 1), the most significant first: 32 (of one digit) or 131,072 (of
// three) stands for 0.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>

#include "extras/explanation/attention_weights.h"

namespace dragoman {

/// {"shape": [heads, queries, keys], "causal", "scales": [heads], "data"}: the scores behind the
/// weights, in three digits each; number times the scale of its head is the score. Where the block
/// is causal, a query has the scores of its own key and of those before it.
nlohmann::ordered_json scores_block(const AttentionWeights& weights);

/// {"shape": [count, size], "scales": [count], "data"}: vectors as strips of colours, in one digit
/// a number; number times the scale of its vector is the element. The largest number of a vector is
/// 31 or -31.
nlohmann::ordered_json strips_block(std::span<const float> vectors, std::int64_t size);

}  // namespace dragoman
