#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/inference_kernels.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr float kGuard = 12345;

class RowAttention : public InferenceKernelsTest {};

/// Numbers of heads in HeadOrder, zero for padding.
std::vector<float> in_order(const HeadOrder& order, const std::vector<float>& plain,
                            std::int64_t begin) {
  std::vector<float> ordered(static_cast<std::size_t>(order.width));
  for (std::int64_t h = 0; h < order.heads; ++h)
    for (std::int64_t c = 0; c < order.d_k; ++c)
      ordered[order.index(h, c)] = plain[begin + h * order.d_k + c];
  return ordered;
}

/// A query, and keys and values of positions side by side: [heads * d_k] each, head after head.
struct Attention {
  const HeadOrder& order;
  std::vector<float> q, keys, values;
  float scale;

  std::int64_t width() const { return order.heads * order.d_k; }
};

/// Weights and output of a row are those of equation 1, up to the rounding of `type`.
void expect_equation_1(const Attention& a, const std::vector<std::int64_t>& records,
                       NumberType type, const std::vector<float>& weights,
                       const std::vector<float>& output) {
  const std::int64_t d_k = a.order.d_k;
  const std::size_t length = records.size();
  // A product of bytes is off by half a step of each of its factors at most, one of bf16 by half a
  // step of the key.
  const double step = type == NumberType::Int8       ? 3.5 * 0.5 / 100
                      : type == NumberType::BFloat16 ? 2 * 1.5 / 256
                                                     : 0;
  const double error = static_cast<double>(a.scale * static_cast<float>(d_k)) * step;
  const double off = type == NumberType::Int8       ? 1.5 / 254 + 1e-5
                     : type == NumberType::BFloat16 ? 1.5 / 256
                                                    : 1e-5;
  for (std::int64_t h = 0; h < a.order.heads; ++h) {
    const auto weight = [&](std::size_t j) {
      return weights[static_cast<std::int64_t>(j) * a.order.lanes + h];
    };
    const auto at = [&](const std::vector<float>& list, std::size_t j, std::int64_t c) {
      return list[records[j] * a.width() + h * d_k + c];
    };
    reference::Numbers scores;
    for (std::size_t j = 0; j < length; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d_k; ++c) score += a.q[h * d_k + c] * at(a.keys, j, c);
      scores.push_back(static_cast<double>(a.scale) * score);
    }
    const reference::Numbers p = reference::softmax(scores);
    for (std::size_t j = 0; j < length; ++j)
      ASSERT_NEAR(weight(j), p[j], 1e-5 + 2 * error * p[j] * std::exp(2 * error));
    for (std::int64_t c = 0; c < d_k; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < length; ++j)
        expected += static_cast<double>(weight(j)) * static_cast<double>(at(a.values, j, c));
      ASSERT_NEAR(output[a.order.index(h, c)], expected, off);
    }
  }
}

void expect_attention(const InferenceKernels& table, const Attention& a,
                      const std::vector<std::int64_t>& records, bool side_by_side,
                      NumberType type) {
  const auto kind = static_cast<std::size_t>(type);
  const auto length = static_cast<std::int64_t>(records.size());
  const std::int64_t bytes = a.order.record_bytes(type);
  const auto count = static_cast<std::int64_t>(a.keys.size()) / a.width();
  std::vector<std::uint8_t> cache(static_cast<std::size_t>(count * bytes));
  for (std::int64_t record = 0; record < count; ++record)
    table.store_record[kind](a.order, in_order(a.order, a.keys, record * a.width()).data(),
                             in_order(a.order, a.values, record * a.width()).data(),
                             cache.data() + record * bytes);
  const std::vector<std::int32_t> numbers(records.begin(), records.end());
  std::vector<float> scratch(static_cast<std::size_t>(a.order.scratch(length)) + 1),
      output(static_cast<std::size_t>(a.order.width) + 1, kGuard);
  scratch.back() = kGuard;
  table.row_attention[kind]({.order = a.order,
                             .q = in_order(a.order, a.q, 0).data(),
                             .cache = cache.data(),
                             .records = side_by_side ? nullptr : numbers.data(),
                             .length = length,
                             .scale = a.scale,
                             .scratch = scratch.data(),
                             .output = output.data()});
  ASSERT_EQ(output.back(), kGuard);
  ASSERT_EQ(scratch.back(), kGuard);
  expect_equation_1(a, records, type, scratch, output);
}

TEST_P(RowAttention, AttentionOfARowIsEquationOneOverItsRecords) {
  constexpr std::int64_t kRecords = 50;
  for (const std::int64_t heads : {1, 2, 3, 4, 8, 12, 16, 40})
    for (const std::int64_t d_k : {1, 8, 24, 64}) {
      const HeadOrder order(heads, d_k);
      ASSERT_EQ(order.width % 64, 0);
      for (const std::int64_t length : {1, 5, 16, 37}) {
        const std::int64_t numbers = kRecords * heads * d_k;
        const Attention attention{.order = order,
                                  .q = values(heads * d_k),
                                  .keys = values(numbers, 1.5),
                                  .values = values(numbers, 1.5),
                                  .scale = 0.3F};
        std::vector<std::int64_t> in_turn(static_cast<std::size_t>(length)), drawn = in_turn;
        std::iota(in_turn.begin(), in_turn.end(), 0);
        for (auto& record : drawn) record = static_cast<std::int64_t>(random_.uniform() * kRecords);
        for (const NumberType type :
             {NumberType::Float32, NumberType::BFloat16, NumberType::Int8}) {
          expect_attention(table(), attention, drawn, false, type);
          expect_attention(table(), attention, in_turn, true, type);
          if (HasFatalFailure()) return;
        }
      }
    }
}

/// But for the weights, which are rounded to a 32,767th of their sum.
TEST_P(RowAttention, AttentionToBytesIsExactWhereBytesAre) {
  const HeadOrder order(3, 10);
  // Whole numbers, the largest of each head 127: nothing is rounded.
  const auto whole = [&] {
    std::vector<float> numbers(30);
    for (float& number : numbers)
      number = static_cast<float>(std::floor(random_.uniform() * 254 - 127));
    for (std::size_t h = 0; h < 3; ++h) numbers[h * 10 + 3] = h == 1 ? -127 : 127;
    return in_order(order, numbers, 0);
  };
  std::vector<std::uint8_t> bytes, floats;
  for (int position = 0; position < 9; ++position) {
    const auto key = whole(), value = whole();
    bytes.resize(bytes.size() + static_cast<std::size_t>(order.record_bytes(NumberType::Int8)));
    floats.resize(floats.size() +
                  static_cast<std::size_t>(order.record_bytes(NumberType::Float32)));
    table().store_record[2](order, key.data(), value.data(),
                            bytes.data() + position * order.record_bytes(NumberType::Int8));
    table().store_record[0](order, key.data(), value.data(),
                            floats.data() + position * order.record_bytes(NumberType::Float32));
  }
  const auto q = whole();
  std::vector<float> scratch(static_cast<std::size_t>(order.scratch(9))), output(order.width),
      expected(order.width);
  RowAttentionArguments arguments{.order = order,
                                  .q = q.data(),
                                  .cache = bytes.data(),
                                  .records = nullptr,
                                  .length = 9,
                                  .scale = 1e-4F,
                                  .scratch = scratch.data(),
                                  .output = output.data()};
  table().row_attention[2](arguments);
  arguments.cache = floats.data();
  arguments.output = expected.data();
  table().row_attention[0](arguments);
  for (std::int64_t i = 0; i < order.width; ++i)
    ASSERT_NEAR(output[i], expected[i], 9 * 0.5 / 32767 * 127) << i;
}

/// A model that has diverged shows itself: a number of a head that is not finite, of the query, of
/// one key or of one value, makes the head's output not finite, and leaves the other heads alone.
TEST_P(RowAttention, NumbersThatAreNotFiniteShowInTheOutputOfTheirHead) {
  const HeadOrder order(3, 10);
  constexpr std::int64_t kPositions = 9, kWidth = 30, kHead = 1;
  const std::vector<float> queries = values(kWidth), keys = values(kPositions * kWidth),
                           contents = values(kPositions * kWidth);
  for (const float broken : {NAN, INFINITY, -INFINITY})
    for (const int place : {0, 1, 2})
      for (const std::int64_t position : {0, 4, 8})
        for (const std::size_t kind : {0, 1, 2}) {
          std::array<std::vector<float>, 3> numbers = {queries, keys, contents};
          numbers[place][(place == 0 ? 0 : position * kWidth) + kHead * 10 + 3] = broken;
          // A score of -infinity would be a weight of 0, as in the formula.
          if (place == 1 && std::isinf(broken))
            numbers[0][kHead * 10 + 3] = std::copysign(1.0F, broken);
          const std::int64_t bytes = order.record_bytes(static_cast<NumberType>(kind));
          std::vector<std::uint8_t> cache(static_cast<std::size_t>(kPositions * bytes));
          for (std::int64_t p = 0; p < kPositions; ++p)
            table().store_record[kind](order, in_order(order, numbers[1], p * kWidth).data(),
                                       in_order(order, numbers[2], p * kWidth).data(),
                                       cache.data() + p * bytes);
          std::vector<float> scratch(static_cast<std::size_t>(order.scratch(kPositions))),
              output(static_cast<std::size_t>(order.width));
          table().row_attention[kind]({.order = order,
                                       .q = in_order(order, numbers[0], 0).data(),
                                       .cache = cache.data(),
                                       .records = nullptr,
                                       .length = kPositions,
                                       .scale = 0.3F,
                                       .scratch = scratch.data(),
                                       .output = output.data()});
          EXPECT_FALSE(std::isfinite(output[order.index(kHead, 3)]))
              << broken << ", place " << place << ", position " << position << ", type " << kind;
          for (const std::int64_t other : {0, 2})
            EXPECT_TRUE(std::isfinite(output[order.index(other, 3)]));
        }
}

DRAGOMAN_FOR_EACH_INFERENCE_TABLE(RowAttention);

}  // namespace
}  // namespace dragoman
