// The kernels of inference in int8 give the same bits on every instruction set, so a translation
// does not depend on the processor. (SSE2, and the portable set on x86-64, round twice what the
// others round once; these numbers do not show the difference.) The digests are those of an x86-64
// processor with AVX2: on ARM the bits must be the same.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kernels/inference_kernels.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

/// Numbers whose sums are never exact.
class SameBits : public testing::Test {
 protected:
  std::vector<float> values(std::int64_t count) {
    std::vector<float> list;
    for (const double value : uniform_values(random_, count, 3))
      list.push_back(static_cast<float>(value));
    return list;
  }

  /// Whether each of the tables makes the same numbers.
  template <class Table, class Compute>
  void expect_same(const std::vector<const Table*>& tables, Compute&& compute) {
    const std::vector<float> first = compute(*tables.front());
    for (const Table* table : tables)
      EXPECT_EQ(compute(*table), first) << table->name << " and " << tables.front()->name;
    for (const float number : first)  // FNV-1a
      digest_ = (digest_ ^ std::bit_cast<std::uint32_t>(number)) * 0x100000001B3;
  }

  /// A hash of the bits of all numbers so far.
  std::uint64_t digest_ = 0xCBF29CE484222325;
  RandomStream random_{3, 4};
};

TEST_F(SameBits, AddAndNormIsTheSameOnEveryInstructionSet) {
  for (const std::int64_t columns : {5, 16, 24, 40, 130, 512}) {
    const auto x = values(columns), residual = values(columns), gain = values(columns),
               bias = values(columns);
    expect_same(available_tables(), [&](const BatchKernels& table) {
      std::vector<float> y(static_cast<std::size_t>(columns));
      table.add_norm[0]({.x = x.data(),
                         .residual = residual.data(),
                         .gain = gain.data(),
                         .bias = bias.data(),
                         .sum = y.data(),
                         .y = y.data(),
                         .means = nullptr,
                         .inverse_deviations = nullptr,
                         .columns = columns,
                         .epsilon = 1e-5F,
                         .dropout = {}},
                        0, 1);
      return y;
    });
  }
  EXPECT_EQ(digest_, 0x40AF752148480238u);
}

TEST_F(SameBits, TheEncodersAttentionIsTheSameOnEveryInstructionSet) {
  const std::int64_t heads = 3;
  const std::vector<std::int32_t> starts = {0, 1, 8, 17, 33, 70};
  for (const std::int64_t d_k : {5, 16, 24, 64}) {
    const std::int64_t width = heads * d_k, tokens = starts.back();
    const auto q = values(tokens * width), k = values(tokens * width), v = values(tokens * width);
    expect_same(available_tables(), [&](const BatchKernels& table) {
      std::vector<float> output(static_cast<std::size_t>(tokens * width));
      std::vector<float> log_sums(static_cast<std::size_t>(tokens * heads));
      const auto sentences = static_cast<std::int64_t>(starts.size()) - 1;
      table.packed_attention[0]({.q = q.data(),
                                 .k = k.data(),
                                 .v = v.data(),
                                 .output = output.data(),
                                 .log_sums = log_sums.data(),
                                 .query_starts = starts.data(),
                                 .key_starts = starts.data(),
                                 .heads = heads,
                                 .d_k = d_k,
                                 .query_stride = width,
                                 .key_stride = width,
                                 .longest_keys = 37,
                                 .scale = 0.3F,
                                 .causal = false,
                                 .dropout = {}},
                                0, sentences * heads);
      return output;
    });
  }
  EXPECT_EQ(digest_, 0xD27E6BD550D4C66Au);
}

TEST_F(SameBits, LinearLayersInInt8AreTheSameOnEveryInstructionSet) {
  const std::int64_t outputs = 65;
  for (const auto& [rows, inputs] : {std::pair<std::int64_t, std::int64_t>{7, 130}, {21, 128}}) {
    const auto x = values(rows * inputs), scales = values(128), bias = values(128);
    std::vector<std::int8_t> weights;
    for (std::int64_t i = 0; i < inputs * outputs; ++i)
      weights.push_back(static_cast<std::int8_t>(random_.below(255) - 127));
    expect_same(available_inference_tables(), [&, rows = rows,
                                               inputs = inputs](const InferenceKernels& table) {
      const std::int64_t padded = table.padded_outputs(outputs);
      const auto stride = static_cast<std::size_t>(InferenceKernels::padded_inputs(inputs));
      std::vector<std::int8_t> packed(static_cast<std::size_t>(padded) * stride);
      std::vector<std::int32_t> offsets(static_cast<std::size_t>(padded));
      table.pack_int8(weights.data(), outputs, inputs, packed.data(), offsets.data());
      const auto count = static_cast<std::size_t>(rows);
      std::vector<std::uint8_t> rounded(2 * count * stride);
      std::vector<float> x_scales(count), y(count * outputs);
      table.quantize(x.data(), rows, inputs, rounded.data(), x_scales.data());
      table.linear[static_cast<std::size_t>(NumberType::Int8)]({.x = rounded.data(),
                                                                .x_scales = x_scales.data(),
                                                                .weights = packed.data(),
                                                                .weight_scales = scales.data(),
                                                                .offsets = offsets.data(),
                                                                .bias = bias.data(),
                                                                .y = y.data(),
                                                                .inputs = inputs,
                                                                .outputs = outputs,
                                                                .y_stride = outputs,
                                                                .relu = false},
                                                               rows, 0, padded / table.panel);
      return y;
    });
  }
  EXPECT_EQ(digest_, 0xEBC5C1E9805803B9u);
}

TEST_F(SameBits, TheDecodersAttentionInInt8IsTheSameOnEveryInstructionSet) {
  const std::int64_t length = 21;
  for (const HeadOrder order :
       {HeadOrder(1, 20), HeadOrder(4, 32), HeadOrder(8, 64), HeadOrder(16, 20)}) {
    const auto q = values(order.width), keys_values = values(length * 2 * order.width);
    expect_same(available_inference_tables(), [&](const InferenceKernels& table) {
      constexpr auto kType = static_cast<std::size_t>(NumberType::Int8);
      const std::int64_t bytes = order.record_bytes(NumberType::Int8);
      std::vector<std::uint8_t> cache(static_cast<std::size_t>(length * bytes));
      for (std::int64_t position = 0; position < length; ++position) {
        const float* key = keys_values.data() + position * 2 * order.width;
        table.store_record[kType](order, key, key + order.width, cache.data() + position * bytes);
      }
      std::vector<float> scratch(static_cast<std::size_t>(order.scratch(length)));
      std::vector<float> output(static_cast<std::size_t>(order.width));
      table.row_attention[kType]({.order = order,
                                  .q = q.data(),
                                  .cache = cache.data(),
                                  .records = nullptr,
                                  .length = length,
                                  .scale = 0.2F,
                                  .scratch = scratch.data(),
                                  .output = output.data()});
      return output;
    });
  }
  EXPECT_EQ(digest_, 0x2954567172EE529Du);
}

TEST_F(SameBits, ActivationsAreTheSameOnEveryInstructionSet) {
  constexpr std::int64_t kColumns = 1000;
  auto x = values(2 * kColumns);
  for (float& value : x) value *= 3;
  for (const auto kernel : {&InferenceKernels::gelu, &InferenceKernels::swish})
    expect_same(available_inference_tables(), [&](const InferenceKernels& table) {
      std::vector<float> y(kColumns);
      (table.*kernel)({.x = x.data(),
                       .gate = x.data() + kColumns,
                       .y = y.data(),
                       .rows = 1,
                       .columns = kColumns,
                       .x_stride = 2 * kColumns});
      return y;
    });
  EXPECT_EQ(digest_, 0xC013D4375D663B20u);
}

TEST_F(SameBits, ASumOfExponentialsIsTheSameOnEveryInstructionSet) {
  for (const std::int64_t count : {1, 9, 16, 25, 1000}) {
    auto logits = values(count);
    for (float& logit : logits) logit *= 20;
    expect_same(available_inference_tables(), [&](const InferenceKernels& table) {
      const float largest = table.largest(logits.data(), count);
      return std::vector<float>{table.exponential_sum(logits.data(), count, largest)};
    });
  }
  EXPECT_EQ(digest_, 0xA892C343897ADA3Au);
}

}  // namespace
}  // namespace dragoman
