#include "extras/explanation/page_blocks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kBitsOfDigit = 6;

/// The number that is written with six digits, so that no text of a scale is long.
double six_digits(double value) {
  std::array<char, 32> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::scientific, 5);
  double rounded = 0;
  std::from_chars(text.data(), written.ptr, rounded);
  return rounded;
}

/// Appends the values in so many digits each. Returns their scale.
template <class Value>
double append(std::span<const Value> values, int digits, std::string& text) {
  const std::int64_t middle = std::int64_t{1} << (kBitsOfDigit * digits - 1);
  double most = 0;
  for (const Value value : values) most = std::max(most, std::abs(static_cast<double>(value)));
  // Rounded up: no number is beyond the digits.
  const double scale = six_digits(most / static_cast<double>(middle - 1) * (1 + 1e-5));
  for (const Value value : values) {
    const std::int64_t number =
        middle + (scale == 0 ? 0 : std::llround(static_cast<double>(value) / scale));
    for (int digit = digits - 1; digit >= 0; --digit)
      text += kDigits[static_cast<std::size_t>(number >> (kBitsOfDigit * digit) & 63)];
  }
  return scale;
}

}  // namespace

nlohmann::ordered_json scores_block(const AttentionWeights& weights) {
  std::vector<double> scales;
  std::string data;
  const std::span<const double> scores = weights.scores;
  const std::size_t of_head = scores.size() / static_cast<std::size_t>(weights.heads);
  for (std::size_t begin = 0; begin < scores.size(); begin += of_head)
    scales.push_back(append(scores.subspan(begin, of_head), 3, data));
  return {{"shape", {weights.heads, weights.queries, weights.keys}},
          {"causal", weights.mask == KeyMask::Causal},
          {"scales", std::move(scales)},
          {"data", std::move(data)}};
}

nlohmann::ordered_json strips_block(std::span<const float> vectors, std::int64_t size) {
  std::vector<double> scales;
  std::string data;
  const auto columns = static_cast<std::size_t>(size);
  for (std::size_t begin = 0; begin < vectors.size(); begin += columns)
    scales.push_back(append(vectors.subspan(begin, columns), 1, data));
  return {{"shape", {scales.size(), columns}},
          {"scales", std::move(scales)},
          {"data", std::move(data)}};
}

}  // namespace dragoman
