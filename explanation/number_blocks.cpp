#include "explanation/number_blocks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/base64.h"

namespace dragoman {

namespace {

template <class Number>
std::string base64_of(const std::vector<Number>& numbers) {
  return base64(std::as_bytes(std::span(numbers)));
}

/// The number that is written with six digits, so that no text of a scale is long.
double six_digits(double value) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::scientific, 5);
  double rounded = 0;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

float largest(std::span<const float> vector) {
  float most = 0;
  for (const float value : vector) most = std::max(most, std::abs(value));
  return most;
}

std::vector<std::uint8_t> in_bytes(const std::vector<std::int16_t>& numbers, VectorBits bits) {
  std::vector<std::uint8_t> bytes;
  if (bits == VectorBits::Eight) {
    for (const std::int16_t number : numbers) bytes.push_back(static_cast<std::uint8_t>(number));
    return bytes;
  }
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const auto a = static_cast<unsigned>(numbers[i]) & 0xFFFU;
    const auto b = i + 1 < numbers.size() ? static_cast<unsigned>(numbers[i + 1]) & 0xFFFU : 0U;
    for (const unsigned byte : {a & 0xFFU, a >> 8U | (b & 0xFU) << 4U, b >> 4U})
      bytes.push_back(static_cast<std::uint8_t>(byte));
  }
  return bytes;
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

nlohmann::ordered_json vectors_block(std::span<const float> vectors, std::int64_t size,
                                     VectorBits bits) {
  const auto columns = static_cast<std::size_t>(size);
  const int most = (1 << (static_cast<int>(bits) - 1)) - 1;
  std::vector<std::int16_t> numbers;
  std::vector<double> scales;
  for (std::size_t i = 0; i < vectors.size(); i += columns) {
    const std::span<const float> vector = vectors.subspan(i, columns);
    // Rounded up: the largest number is never beyond `most`.
    const double scale = six_digits(largest(vector) / most * (1 + 1e-5));
    scales.push_back(scale);
    for (const float value : vector)
      numbers.push_back(static_cast<std::int16_t>(scale == 0 ? 0 : std::lround(value / scale)));
  }
  return {{"shape", {scales.size(), columns}},
          {"bits", static_cast<int>(bits)},
          {"scales", std::move(scales)},
          {"data", base64_of(in_bytes(numbers, bits))}};
}

}  // namespace dragoman
