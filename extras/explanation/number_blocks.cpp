#include "extras/explanation/number_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>

#include "base/base64.h"

namespace dragoman {

namespace {

template <class Number>
std::string base64_of(const std::vector<Number>& numbers) {
  return base64(std::as_bytes(std::span(numbers)));
}

/// The number with five significant digits, which is written with no more.
double five_digits(float number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", static_cast<double>(number));
  return std::strtod(text, nullptr);
}

}  // namespace

std::vector<std::uint16_t> whole_weights(std::span<const float> row) {
  std::vector<std::uint16_t> numbers;
  std::vector<double> remainders;
  double sum = 0;
  for (const float weight : row) sum += weight;
  std::int64_t left = kWholeRow;
  for (const float weight : row) {
    const double exact = weight / sum * static_cast<double>(kWholeRow);
    numbers.push_back(static_cast<std::uint16_t>(exact));
    remainders.push_back(exact - numbers.back());
    left -= numbers.back();
  }
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return remainders[i]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++numbers[order[i]];
  return numbers;
}

nlohmann::ordered_json weights_block(const AttentionWeights& weights) {
  std::vector<std::uint16_t> numbers;
  const auto keys = static_cast<std::size_t>(weights.keys);
  const std::span<const float> values = weights.values;
  for (std::size_t i = 0; i < values.size(); i += keys) {
    const std::vector<std::uint16_t> row = whole_weights(values.subspan(i, keys));
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  return {{"shape", {weights.heads, weights.queries, weights.keys}}, {"data", base64_of(numbers)}};
}

std::uint16_t half_of(float value) {
  constexpr float kLargest = 65504;
  constexpr int kFraction = 10, kLeast = -24;  // bits; 2^kLeast is the smallest number above 0
  const float magnitude = std::min(std::abs(value), kLargest);
  // Of the last place, a power of 2.
  const int unit = std::max(std::ilogb(magnitude), kLeast + kFraction) - kFraction;
  const auto units = static_cast<int>(std::lround(std::ldexp(magnitude, -unit)));
  // Units beyond the fraction's bits carry into the exponent's.
  const int sign = std::signbit(value) ? 0x8000 : 0;
  return static_cast<std::uint16_t>(sign + ((unit - kLeast) << kFraction) + units);
}

nlohmann::ordered_json vectors_block(std::span<const float> vectors, std::int64_t size) {
  std::vector<std::uint16_t> halves;
  halves.reserve(vectors.size());
  for (const float value : vectors) halves.push_back(half_of(value));
  return {{"shape", {std::ssize(vectors) / size, size}}, {"data", base64_of(halves)}};
}

nlohmann::ordered_json number_rows(std::span<const float> numbers, std::int64_t size) {
  auto rows = nlohmann::ordered_json::array();
  for (std::size_t begin = 0; begin < numbers.size(); begin += static_cast<std::size_t>(size)) {
    auto row = nlohmann::ordered_json::array();
    for (const float number : numbers.subspan(begin, static_cast<std::size_t>(size)))
      row.push_back(five_digits(number));
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::ordered_json weights_of_heads(const AttentionWeights& weights) {
  auto heads = nlohmann::ordered_json::array();
  const std::span<const float> values = weights.values;
  const auto each = static_cast<std::size_t>(weights.queries * weights.keys);
  for (std::size_t begin = 0; begin < values.size(); begin += each)
    heads.push_back(number_rows(values.subspan(begin, each), weights.keys));
  return heads;
}

}  // namespace dragoman
