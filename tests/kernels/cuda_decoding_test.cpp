// The kernels of a decoding step, on the CPU, beside plain loops. A step of the search has its
// tests in tests/inference/device, on the function that its kernel calls.
#include "tests/kernels/cuda_on_cpu.h"
// Their sources:
#include "kernels/cuda/best_tokens.cu"
#include "kernels/cuda/step_attention.cu"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace dragoman {
namespace {

class CudaDecoding : public testing::Test {
 protected:
  /// Few different values, so that many are equal.
  std::vector<float> rounded_values(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random_.below(9)) - 4;
    return values;
  }
  std::vector<float> random_values(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(4 * random_.uniform() - 2);
    return values;
  }

  RandomStream random_{3};
};

TEST_F(CudaDecoding, TheBestTokensOfARowComeInOrderTheSmallerOnesFirst) {
  constexpr unsigned rows = 3;
  for (const unsigned columns : {1U, 7U, 64U, 300U, 2504U})
    for (const unsigned count : {1U, 5U, 70U}) {
      SCOPED_TRACE(testing::Message() << columns << " columns, the best " << count);
      const std::vector<float> values = rounded_values(rows * columns);
      std::vector<unsigned char> never((columns + 7) / 8);
      for (unsigned char& bits : never) bits = static_cast<unsigned char>(random_.below(256));
      std::vector<long long> tokens(rows * count);
      std::vector<float> best(rows * count), log_sums(rows);
      const CudaBestTokens arguments{values.data(),   never.data(), tokens.data(), best.data(),
                                     log_sums.data(), rows,         columns,       count};
      cuda_on_cpu::run(rows, columns < 100 ? 32 : kCudaBestThreads,
                       [&] { cuda_kernels::best_tokens_float32(arguments); });
      for (unsigned row = 0; row < rows; ++row) {
        const float* of_row = values.data() + row * columns;
        double sum = 0;
        std::vector<long long> expected;
        for (unsigned c = 0; c < columns; ++c) {
          sum += std::exp(of_row[c]);
          if ((never[c / 8] >> c % 8 & 1) == 0) expected.push_back(c);
        }
        EXPECT_NEAR(log_sums[row], std::log(sum), 1e-5);
        std::ranges::stable_sort(expected, std::greater(),
                                 [&](long long column) { return of_row[column]; });
        for (unsigned rank = 0; rank < count; ++rank) {
          const float found = best[row * count + rank];
          if (rank >= expected.size()) {
            EXPECT_EQ(found, -INFINITY);
            continue;
          }
          EXPECT_EQ(tokens[row * count + rank], expected[rank]);
          EXPECT_NEAR(found, of_row[expected[rank]] - std::log(sum), 1e-5);
        }
      }
    }
}

TEST_F(CudaDecoding, WithoutSumsTheBestNumbersStayAsTheyAre) {
  std::vector<float> values = {1, -INFINITY, 3, 2, -INFINITY};
  std::vector<long long> tokens(4);
  std::vector<float> best(4);
  const CudaBestTokens arguments{
      values.data(), nullptr, tokens.data(), best.data(), nullptr, 1, 5, 4};
  cuda_on_cpu::run(1, kCudaBestThreads, [&] { cuda_kernels::best_tokens_float32(arguments); });
  EXPECT_THAT(best, testing::ElementsAre(3, 2, 1, -INFINITY));
  tokens.pop_back();
  EXPECT_THAT(tokens, testing::ElementsAre(2, 3, 0));
}

TEST_F(CudaDecoding, NotANumberMakesItsRowsSumNotANumber) {
  std::vector<float> values = {1, NAN, 3, 2};
  std::vector<long long> tokens(1);
  std::vector<float> best(1), log_sum(1);
  const CudaBestTokens arguments{
      values.data(), nullptr, tokens.data(), best.data(), log_sum.data(), 1, 4, 1};
  cuda_on_cpu::run(1, kCudaBestThreads, [&] { cuda_kernels::best_tokens_float32(arguments); });
  EXPECT_TRUE(std::isnan(log_sum[0]));
}

/// softmax(q K^T / sqrt(d_k)) V with the keys and values of head `head` in these rows of the cache.
std::vector<double> attended(const CudaStepAttention& a, const float* query,
                             const std::vector<std::size_t>& places, unsigned head) {
  const auto* keys = static_cast<const float*>(a.keys);
  const auto* values = static_cast<const float*>(a.values);
  std::vector<double> weights, result(a.d_k);
  for (const std::size_t place : places) {
    double score = 0;
    for (unsigned i = 0; i < a.d_k; ++i)
      score += double(query[i]) * keys[place * a.heads * a.d_k + head * a.d_k + i];
    weights.push_back(std::exp(score / std::sqrt(a.d_k)));
  }
  const double total = std::reduce(weights.begin(), weights.end());
  for (std::size_t t = 0; t < places.size(); ++t)
    for (unsigned i = 0; i < a.d_k; ++i)
      result[i] += weights[t] / total * values[places[t] * a.heads * a.d_k + head * a.d_k + i];
  return result;
}

TEST_F(CudaDecoding, ARowAttendsToTheTokensOfItsAncestors) {
  constexpr unsigned width = 2, rows = 8, columns = 80, ancestor_columns = 96, heads = 3;
  for (const unsigned d_k : {5U, 64U, 72U}) {
    SCOPED_TRACE(d_k);
    const unsigned size = heads * d_k;
    const auto inputs = random_values(rows * 3 * size);
    auto keys = random_values(rows * columns * size), values = keys;
    std::vector<int> ancestors(rows * ancestor_columns);
    for (int& ancestor : ancestors) ancestor = static_cast<int>(random_.below(width));
    const std::vector<long long> positions = {0, 0, 31, 31, 32, 32, 77, 77};
    for (unsigned row = 0; row < rows; ++row)
      ancestors[row * ancestor_columns + static_cast<std::size_t>(positions[row])] = row % width;
    std::vector<float> result(rows * size);
    const CudaStepAttention a{.queries = inputs.data(),
                              .new_keys = inputs.data() + size,
                              .new_values = inputs.data() + 2 * size,
                              .keys = keys.data(),
                              .values = values.data(),
                              .attended = result.data(),
                              .ancestors = ancestors.data(),
                              .positions = positions.data(),
                              .lengths = nullptr,
                              .rows = rows,
                              .heads = heads,
                              .d_k = d_k,
                              .stride = 3 * size,
                              .columns = columns,
                              .ancestor_columns = ancestor_columns,
                              .width = width,
                              .rows_of_sequence = 1,
                              .scale = 1 / std::sqrt(static_cast<float>(d_k))};
    cuda_on_cpu::run(rows * heads, kCudaStepAttentionThreads,
                     [&] { cuda_kernels::step_attention_float32(a); });
    for (unsigned row = 0; row < rows; ++row) {
      std::vector<std::size_t> places;
      for (long long t = 0; t <= positions[row]; ++t) {
        const auto ancestor = ancestors[row * ancestor_columns + static_cast<std::size_t>(t)];
        places.push_back((row / width * width + static_cast<std::size_t>(ancestor)) * columns +
                         static_cast<std::size_t>(t));
      }
      for (unsigned i = 0; i < size; ++i)
        EXPECT_EQ(keys[places.back() * size + i], inputs[row * 3 * size + size + i]);
      for (unsigned head = 0; head < heads; ++head) {
        const auto expected =
            attended(a, inputs.data() + row * 3 * size + head * d_k, places, head);
        for (unsigned i = 0; i < d_k; ++i)
          EXPECT_NEAR(result[row * size + head * d_k + i], expected[i], 1e-5);
      }
    }
  }
}

TEST_F(CudaDecoding, RowsOfASentenceAttendToItsSource) {
  constexpr unsigned rows = 6, columns = 40, heads = 2, d_k = 8, size = heads * d_k;
  const auto queries = random_values(rows * size);
  auto keys = random_values(2 * columns * size), values = random_values(2 * columns * size);
  const std::vector<long long> lengths = {3, 40};
  std::vector<float> result(rows * size);
  const CudaStepAttention a{.queries = queries.data(),
                            .new_keys = nullptr,
                            .new_values = nullptr,
                            .keys = keys.data(),
                            .values = values.data(),
                            .attended = result.data(),
                            .ancestors = nullptr,
                            .positions = nullptr,
                            .lengths = lengths.data(),
                            .rows = rows,
                            .heads = heads,
                            .d_k = d_k,
                            .stride = size,
                            .columns = columns,
                            .ancestor_columns = 0,
                            .width = 1,
                            .rows_of_sequence = 3,
                            .scale = 1 / std::sqrt(static_cast<float>(d_k))};
  cuda_on_cpu::run(rows * heads, kCudaStepAttentionThreads,
                   [&] { cuda_kernels::step_attention_float32(a); });
  for (unsigned row = 0; row < rows; ++row) {
    std::vector<std::size_t> places(static_cast<std::size_t>(lengths[row / 3]));
    std::iota(places.begin(), places.end(), std::size_t{row / 3 * columns});
    for (unsigned head = 0; head < heads; ++head) {
      const auto expected = attended(a, queries.data() + row * size + head * d_k, places, head);
      for (unsigned i = 0; i < d_k; ++i)
        EXPECT_NEAR(result[row * size + head * d_k + i], expected[i], 1e-5);
    }
  }
}

}  // namespace
}  // namespace dragoman
