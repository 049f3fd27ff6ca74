// Many numbers as a JSON object with a base64 text of whole numbers, little-endian, which is
// smaller than decimal digits. docs/explanation.md shows how to read it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "explanation/attention_weights.h"

namespace dragoman {

/// The sum of the whole numbers that stand for a row of attention weights.
inline constexpr std::int64_t kWholeRow = 65535;

/// Whole numbers in proportion to the weights of a row, which are 0 or more and sum to 1. The
/// numbers sum to kWholeRow (the largest remainders are rounded up); a weight of 0 stays 0.
std::vector<std::uint16_t> whole_weights(std::span<const float> row);

/// {"shape": [heads, queries, keys], "data"}: the rows of whole_weights().
nlohmann::ordered_json weights_block(const AttentionWeights& weights);

enum class VectorBits { Eight = 8, Twelve = 12 };

/// {"shape": [count, size], "bits", "scales": [count], "data"}: number times scale is the element.
/// The largest element of a vector has the largest number. Of twelve bits two numbers a, b stand in
/// three bytes: the low eight bits of a, the high four of a below the low four of b, the high eight
/// of b. An odd count has a 0 behind it.
nlohmann::ordered_json vectors_block(std::span<const float> vectors, std::int64_t size,
                                     VectorBits bits);

}  // namespace dragoman
