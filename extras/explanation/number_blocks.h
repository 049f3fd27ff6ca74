// Many numbers as lists of lists, or as a JSON object with a base64 text, which is smaller.
// docs/explanation.md shows how to read both.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "extras/explanation/attention_weights.h"

namespace dragoman {

/// Rows of `size` numbers, each with five significant digits.
nlohmann::ordered_json number_rows(std::span<const float> numbers, std::int64_t size);

/// The weights as lists [heads, queries, keys], with five significant digits.
nlohmann::ordered_json weights_of_heads(const AttentionWeights& weights);

/// The sum of the whole numbers that stand for a row of attention weights.
inline constexpr std::int64_t kWholeRow = 65535;

/// Whole numbers in proportion to the weights of a row, which are 0 or more and sum to 1. The
/// numbers sum to kWholeRow (the largest remainders are rounded up); a weight of 0 stays 0.
std::vector<std::uint16_t> whole_weights(std::span<const float> row);

/// {"shape": [heads, queries, keys], "data"}: the rows of whole_weights(), little-endian.
nlohmann::ordered_json weights_block(const AttentionWeights& weights);

/// The bits of the nearest number of 16 bits (IEEE 754-2008, binary16); beyond the largest one,
/// 65504, that one.
std::uint16_t half_of(float value);

/// {"shape": [count, size], "data"}: the numbers of half_of(), little-endian.
nlohmann::ordered_json vectors_block(std::span<const float> vectors, std::int64_t size);

}  // namespace dragoman
