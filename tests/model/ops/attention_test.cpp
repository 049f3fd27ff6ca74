#include "model/ops/attention.h"

#include <vector>

#include "model/ops/kernel_call.h"
#include "tests/model/ops/expect_same.h"

namespace dragoman {
namespace {

constexpr std::int64_t kHeads = 2;

/// Queries and keys of different lengths, with dropout keys.
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

TEST(AttentionWeights, WeightsEqualMaskedSoftmaxAndDropoutByPlainOperations) {
  for (const AttentionMask mask : {AttentionMask::Sentence, AttentionMask::Causal})
    for (const double rate : {0.0, 0.3}) {
      const auto example = attention_example(mask);
      const AttentionPattern pattern{example.queries, example.keys, mask, {rate, 4}};
      expect_same(
          [&](const auto& scores) { return attention_weights(scores, pattern, 0.6); },
          [&](const auto& scores) { return attention_weights_reference(scores, pattern, 0.6); },
          example.scores);
    }
}

TEST(AttentionWeights, DroppedWeightsAreThePlainOnesTimesTheFactorsBitForBit) {
  const auto example = attention_example(AttentionMask::Sentence);
  const Dropout dropout{0.3, 4};
  const auto weights = [&](const Dropout& chosen) {
    return attention_weights(example.scores,
                             {example.queries, example.keys, AttentionMask::Sentence, chosen}, 0.6);
  };
  const auto factors =
      DropoutMask(dropout, example.queries.padded().row_keys, example.scores.size(1), kHeads)
          .factors(example.scores.size(2));
  const auto plain = weights({0, 4});
  EXPECT_TRUE(weights(dropout).equal(plain * factors.view_as(plain)));
}

TEST(AttentionWeights, TheReferenceSumsToOneOverTheVisibleKeysAlone) {
  const auto example = attention_example(AttentionMask::Causal);
  const auto weights = attention_weights_reference(
      example.scores, {example.queries, example.keys, AttentionMask::Causal, {0, 4}}, 0.6);
  expect_close(weights.sum(-1), torch::ones({6, 5}), 1e-6);
  EXPECT_EQ(weights.triu(1).count_nonzero().item<std::int64_t>(), 0);
  // The last sentence has one token: its other places are hidden from every query.
  expect_close(weights.slice(0, 4).select(2, 0), torch::ones({2, 5}), 0);
}

/// Queries with filler rows and dropout keys.
PackedLayout filled_queries() {
  const std::vector<std::int32_t> starts = {0, 3, 8, 9};
  auto queries = PackedLayout::from_starts(starts, kHeads, test_device(), 16);
  const auto numbers = row_keys(queries.tokens).cpu();
  queries.set_row_keys({numbers.const_data_ptr<std::int32_t>(), 9});
  return queries;
}

void expect_zero_filler(const torch::Tensor& context, const PackedLayout& queries) {
  EXPECT_EQ(context.slice(0, queries.tokens).count_nonzero().item<std::int64_t>(), 0);
}

constexpr std::int64_t kWidth = 12;

/// The paths that compute it here.
std::vector<AttentionPath> paths(double rate) {
  std::vector<AttentionPath> paths = {AttentionPath::Formula};
  if (test_device().is_cpu()) paths.push_back(AttentionPath::Kernel);
  if (rate == 0) paths.push_back(AttentionPath::Library);
  return paths;  // Flash computes in 16 bits, see FlashAttentionIsEquationOne
}

TEST(PackedSelfAttention, SelfAttentionIsEquationOneByEachPathAndSkipsFillerRows) {
  const PackedLayout layout = filled_queries();
  const auto qkv = closed_form({layout.rows, 3 * kWidth});
  for (const AttentionMask mask : {AttentionMask::Sentence, AttentionMask::Causal})
    for (const double rate : {0.0, 0.3}) {
      const AttentionPattern pattern{layout, layout, mask, {rate, 4}};
      for (const AttentionPath path : paths(rate)) {
        expect_same(
            [&](const auto& x) { return self_attention_by(path, x, pattern); },
            [&](const auto& x) { return self_attention_by(AttentionPath::Formula, x, pattern); },
            qkv);
        expect_zero_filler(self_attention_by(path, qkv, pattern), layout);
      }
    }
}

TEST(PackedCrossAttention, CrossAttentionIsEquationOneByEachPathAndSkipsFillerRows) {
  const std::vector<std::int32_t> key_starts = {0, 7, 9, 26};
  const PackedLayout queries = filled_queries();
  const auto keys = PackedLayout::from_starts(key_starts, kHeads, test_device());
  const auto q = closed_form({queries.rows, kWidth});
  const auto kv = closed_form({keys.rows, 2 * kWidth}, 0.3);
  const auto like = [](const torch::Tensor& x, const torch::Tensor& as) {
    return x.to(as.scalar_type());
  };
  for (const double rate : {0.0, 0.3}) {
    const AttentionPattern pattern{queries, keys, AttentionMask::Sentence, {rate, 4}};
    const auto by = [&](AttentionPath path, const torch::Tensor& x, const torch::Tensor& y) {
      return cross_attention_by(path, x, y, pattern);
    };
    for (const AttentionPath path : paths(rate)) {
      expect_same([&](const auto& x) { return by(path, x, like(kv, x)); },
                  [&](const auto& x) { return by(AttentionPath::Formula, x, like(kv, x)); }, q);
      expect_same([&](const auto& x) { return by(path, like(q, x), x); },
                  [&](const auto& x) { return by(AttentionPath::Formula, like(q, x), x); }, kv);
      expect_zero_filler(by(path, q, kv), queries);
    }
  }
}

TEST(PackedAttention, TheKernelIsTakenIfItFitsAndTheLibraryIfItDoesNot) {
  if (!test_device().is_cpu()) GTEST_SKIP() << "the kernel is for the CPU";
  const PackedLayout layout = filled_queries();
  const std::vector<std::int32_t> long_starts = {0, 5000};
  const auto keys = PackedLayout::from_starts(long_starts, kHeads, test_device());
  auto q = closed_form({layout.rows, kWidth});
  const auto path = [&](const PackedLayout& of_keys, double rate) {
    return attention_path(q, kWidth, {layout, of_keys, AttentionMask::Sentence, {rate, 4}});
  };
  EXPECT_EQ(path(layout, 0.3), AttentionPath::Kernel);
  EXPECT_EQ(path(keys, 0.3), AttentionPath::Formula);
  const WithoutKernels plain;
  EXPECT_EQ(path(layout, 0.3), AttentionPath::Formula) << "the masks of dropout are ours";
  EXPECT_EQ(path(layout, 0), AttentionPath::Library);
  q = q.detach().requires_grad_();
  EXPECT_EQ(path(layout, 0), AttentionPath::Formula) << "the library's gradients have no one order";
  const torch::NoGradGuard no_gradient;
  EXPECT_EQ(path(layout, 0), AttentionPath::Library);
}

TEST(PackedAttention, FlashAttentionIsAskedForMultiplesOfEightAlone) {
  for (const std::int64_t head : {1, 4, 12, 60, 63})
    EXPECT_FALSE(has_flash_attention(torch::kBFloat16, test_device(), head)) << head;
}

TEST(PackedAttention, LongestMayBeMoreThanTheLongestSentenceHas) {
  const std::vector<std::int32_t> starts = {0, 3, 8, 9};
  const auto layout = PackedLayout::from_starts(starts, kHeads, test_device());
  const auto roomy = PackedLayout::from_starts(starts, kHeads, test_device(), 1, 16);
  EXPECT_EQ(roomy.longest, 16);
  const auto qkv = closed_form({layout.rows, 3 * kWidth});
  for (const AttentionMask mask : {AttentionMask::Sentence, AttentionMask::Causal})
    for (const AttentionPath path : paths(0))
      expect_same(
          [&](const auto& x) {
            return self_attention_by(path, x, {roomy, roomy, mask, {0, 4}});
          },
          [&](const auto& x) {
            return self_attention_by(path, x, {layout, layout, mask, {0, 4}});
          },
          qkv);
}

TEST(PackedAttention, FlashAttentionIsEquationOne) {
  constexpr std::int64_t kHead = 64, kColumns = kHead * kHeads;
  if (!has_flash_attention(torch::kBFloat16, test_device(), kHead))
    GTEST_SKIP() << "there is no flash attention here";
  const PackedLayout queries = filled_queries();
  const std::vector<std::int32_t> key_starts = {0, 7, 9, 26};
  const auto keys = PackedLayout::from_starts(key_starts, kHeads, test_device());
  const auto expect_close = [](const auto& attend, const torch::Tensor& input) {
    std::vector<torch::Tensor> outputs, gradients;
    for (const AttentionPath path : {AttentionPath::Flash, AttentionPath::Formula}) {
      const auto type = path == AttentionPath::Flash ? torch::kBFloat16 : torch::kFloat32;
      const auto x = input.to(torch::kBFloat16).to(type).detach().requires_grad_();
      outputs.push_back(attend(path, x).to(torch::kFloat32));
      (outputs.back() * closed_form(outputs.back().sizes().vec(), 0.7)).sum().backward();
      gradients.push_back(x.grad().to(torch::kFloat32));
    }
    EXPECT_TRUE(torch::allclose(outputs[0], outputs[1], 2e-2, 2e-2));
    EXPECT_TRUE(torch::allclose(gradients[0], gradients[1], 3e-2, 3e-2));
  };
  for (const AttentionMask mask : {AttentionMask::Sentence, AttentionMask::Causal})
    expect_close(
        [&](AttentionPath path, const torch::Tensor& x) {
          return self_attention_by(path, x, {queries, queries, mask, {0, 4}});
        },
        closed_form({queries.rows, 3 * kColumns}));
  const auto kv = closed_form({keys.rows, 2 * kColumns}, 0.3);
  expect_close(
      [&](AttentionPath path, const torch::Tensor& x) {
        return cross_attention_by(path, x, kv.to(x.scalar_type()),
                                  {queries, keys, AttentionMask::Sentence, {0, 4}});
      },
      closed_form({queries.rows, kColumns}));
}

}  // namespace
}  // namespace dragoman
