#include "model/ops/attention.h"

#include <utility>
#include <vector>

#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kHeads = 2;

/// Queries and keys of unlike lengths, with dropout keys.
struct AttentionExample {
  PackedLayout queries, keys;
  torch::Tensor scores;
};

AttentionExample attention_example(AttentionMask mask) {
  const std::vector<std::int32_t> short_starts = {0, 3, 8, 9}, long_starts = {0, 7, 9, 26};
  auto queries = PackedLayout::from_starts(short_starts, kHeads, test_device());
  auto keys = mask == AttentionMask::Causal
                  ? queries
                  : PackedLayout::from_starts(long_starts, kHeads, test_device());
  const auto numbers = row_keys(queries.tokens).cpu();
  queries.set_row_keys({numbers.const_data_ptr<std::int32_t>(), 9});
  const auto scores = closed_form({3 * kHeads, queries.longest, keys.longest}) * 3;
  return {queries, keys, scores};
}

TEST(AttentionWeights, EqualMaskedSoftmaxAndDropoutByPlainOperations) {
  for (const AttentionMask mask : {AttentionMask::Padding, AttentionMask::Causal})
    for (const double rate : {0.0, 0.3}) {
      const auto example = attention_example(mask);
      const AttentionPattern pattern{example.queries, example.keys, mask, {rate, 4}};
      expect_same(
          [&](const auto& scores) { return attention_weights(scores, pattern, 0.6); },
          [&](const auto& scores) { return attention_weights_reference(scores, pattern, 0.6); },
          example.scores);
    }
}

TEST(AttentionWeights, AreTheWeightsWithoutDropoutTimesTheFactorsBitForBit) {
  const auto example = attention_example(AttentionMask::Padding);
  const Dropout dropout{0.3, 4};
  const auto weights = [&](const Dropout& chosen) {
    return attention_weights(example.scores,
                             {example.queries, example.keys, AttentionMask::Padding, chosen}, 0.6);
  };
  const auto factors =
      DropoutMask(dropout, example.queries.padded_row_keys, example.scores.size(1), kHeads)
          .factors(example.scores.size(2));
  const auto plain = weights({0, 4});
  EXPECT_TRUE(weights(dropout).equal(plain * factors.view_as(plain)));
}

TEST(AttentionWeights, ReferenceSumsToOneOverTheVisibleKeysAlone) {
  const auto example = attention_example(AttentionMask::Causal);
  const auto weights = attention_weights_reference(
      example.scores, {example.queries, example.keys, AttentionMask::Causal, {0, 4}}, 0.6);
  expect_close(weights.sum(-1), torch::ones({6, 5}), 1e-6);
  EXPECT_EQ(weights.triu(1).count_nonzero().item<std::int64_t>(), 0);
  // The last sentence has one token: its other places are hidden from every query.
  expect_close(weights.slice(0, 4).select(2, 0), torch::ones({2, 5}), 0);
}

/// Layouts whose queries have filler rows, and random inputs of attention.
struct PackedExample {
  PackedLayout queries, keys;
  torch::Tensor own, memory;  ///< [N, D] and [M, 2D]; or [N, 3D] and undefined
};

PackedExample packed_example(AttentionMask mask) {
  constexpr std::int64_t kWidth = 12, kFilled = 16;
  const std::vector<std::int32_t> starts = {0, 3, 8, 9}, other_starts = {0, 7, 9, 26};
  auto queries = PackedLayout::from_starts(starts, kHeads, test_device(), kFilled);
  const auto numbers = row_keys(queries.tokens).cpu();
  queries.set_row_keys({numbers.const_data_ptr<std::int32_t>(), 9});
  if (mask == AttentionMask::Causal)
    return {queries, queries, closed_form({queries.rows, 3 * kWidth}), {}};
  const auto keys = PackedLayout::from_starts(other_starts, kHeads, test_device());
  return {queries, keys, closed_form({queries.rows, kWidth}),
          closed_form({keys.rows, 2 * kWidth}, 0.3)};
}

TEST(PackedAttention, EqualsThePaddedPathAndSkipsFillerRows) {
  const auto like = [](const torch::Tensor& x, const torch::Tensor& as) {
    return x.defined() ? x.to(as.scalar_type()) : x;
  };
  for (const AttentionMask mask : {AttentionMask::Padding, AttentionMask::Causal})
    for (const double rate : {0.0, 0.3}) {
      const auto e = packed_example(mask);
      const AttentionPattern pattern{e.queries, e.keys, mask, {rate, 4}};
      expect_same(
          [&](const auto& own) { return packed_attention(own, like(e.memory, own), pattern); },
          [&](const auto& own) { return padded_attention(own, like(e.memory, own), pattern); },
          e.own);
      if (e.memory.defined())
        expect_same(
            [&](const auto& memory) {
              return packed_attention(like(e.own, memory), memory, pattern);
            },
            [&](const auto& memory) {
              return padded_attention(like(e.own, memory), memory, pattern);
            },
            e.memory);
      const auto context = packed_attention(e.own, e.memory, pattern);
      EXPECT_EQ(context.slice(0, e.queries.tokens).count_nonzero().item<std::int64_t>(), 0);
    }
}

}  // namespace
}  // namespace dragoman
