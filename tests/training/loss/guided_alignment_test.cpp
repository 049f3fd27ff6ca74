#include "training/loss/guided_alignment.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "base/random.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/test_device.h"
#include "tests/training/whole_batch.h"

namespace dragoman {
namespace {

constexpr std::int64_t kHeads = 2, kWidth = 8;

PackedLayout layout(const std::vector<std::int32_t>& starts, std::int64_t row_multiple = 1) {
  return PackedLayout::from_starts(starts, kHeads, test_device(), row_multiple);
}

/// Two sentences of 3 and 5 source pieces and 4 and 2 target pieces; filler rows after them.
struct Example {
  PackedLayout source = layout({0, 3, 8}, 5), target = layout({0, 4, 6}, 4);
  std::vector<std::vector<PieceLink>> sentence_links = {{{0, 0, 1}, {1, 2, 0.5F}, {2, 2, 0.5F}},
                                                        {{4, 1, 0.25F}, {0, 1, 0.75F}}};
  BatchLinks links{sentence_links, source, target};
  AttentionPattern pattern{target, source, AttentionMask::Sentence, {0, 0}};
  torch::Tensor queries, keys;

  Example() {
    torch::manual_seed(4);
    const auto options =
        torch::TensorOptions(test_device()).dtype(torch::kFloat64).requires_grad(true);
    queries = torch::randn({target.rows, kWidth}, options);
    keys = torch::randn({source.rows, kWidth}, options);
  }
  torch::Tensor log_weights(std::int64_t head) const {
    return log_attention_at(links.indices, queries, keys, pattern, head);
  }
};

/// Equation 1's weight of query row n on key row m, among the keys [first, last), for one head.
double plain_weight(const Example& e, std::int64_t n, std::int64_t m, std::int64_t first,
                    std::int64_t last, std::int64_t head) {
  const std::int64_t d_k = kWidth / kHeads;
  const auto score = [&](std::int64_t key) {
    return std::exp(e.queries[n]
                        .narrow(0, head * d_k, d_k)
                        .dot(e.keys[key].narrow(0, head * d_k, d_k))
                        .item<double>() /
                    std::sqrt(static_cast<double>(d_k)));
  };
  double total = 0;
  for (std::int64_t key = first; key < last; ++key) total += score(key);
  return score(m) / total;
}

TEST(GuidedAlignment, TheLossIsTheLogarithmOfTheAttentionAtTheLinks) {
  const Example e;
  struct Link {
    std::int64_t query, key, first, last;  // rows of the batch
  };
  const std::vector<Link> rows = {
      {0, 0, 0, 3}, {2, 1, 0, 3}, {2, 2, 0, 3}, {5, 7, 3, 8}, {5, 3, 3, 8}};
  for (const std::int64_t head : {0, 1, 2}) {
    const auto log_weights = e.log_weights(head);
    ASSERT_EQ(log_weights.size(0), 5);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [query, key, first, last] = rows[i];
      double expected = 0;
      for (const std::int64_t h : {1, 2})
        if (head == 0 || head == h)
          expected += plain_weight(e, query, key, first, last, h - 1) / (head == 0 ? 2 : 1);
      EXPECT_NEAR(log_weights[static_cast<std::int64_t>(i)].item<double>(), std::log(expected),
                  1e-9);
    }
  }
}

TEST(GuidedAlignment, TheGradientIsTheSlopeOfTheLoss) {
  for (const std::int64_t head : {0, 1}) {
    Example e;
    const auto loss = [&] { return (e.links.link_weights * e.log_weights(head)).sum().neg(); };
    loss().backward();
    for (torch::Tensor* leaf : {&e.queries, &e.keys}) {
      const auto gradient = leaf->grad();
      EXPECT_GT(gradient.norm().item<double>(), 0.1);
      const torch::NoGradGuard no_grad;
      auto values = leaf->view(-1);
      for (std::int64_t i = 0; i < values.size(0); ++i) {
        constexpr double step = 1e-5;
        values[i] += step;
        const double above = loss().item<double>();
        values[i] -= 2 * step;
        const double slope = (above - loss().item<double>()) / (2 * step);
        values[i] += step;
        EXPECT_NEAR(gradient.view(-1)[i].item<double>(), slope, 1e-8);
      }
    }
  }
}

TEST(GuidedAlignment, TheLossStaysFiniteIfTheAttentionIsAllButNothing) {
  Example e;
  const auto queries = (e.queries.detach().to(torch::kFloat32) * 1000).requires_grad_();
  for (const std::int64_t head : {0, 1}) {
    const auto loss =
        (e.links.link_weights *
         log_attention_at(e.links.indices, queries, e.keys.to(torch::kFloat32), e.pattern, head))
            .sum();
    loss.backward();
    EXPECT_TRUE(loss.isfinite().item<bool>());
    EXPECT_TRUE(queries.grad().isfinite().all().item<bool>());
  }
}

ModelConfig small_config(double dropout) {
  ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
  config.d_model = 32;
  config.heads = 2;
  config.d_ff = 64;
  config.encoder_layers = config.decoder_layers = 2;
  config.source_vocabulary = config.target_vocabulary = 30;
  config.dropout = config.attention_dropout = config.activation_dropout = dropout;
  return config;
}

/// Each target is its source, one piece for one.
PackedBatch copies(const std::vector<std::int64_t>& sentences) {
  PackedBatch batch;
  batch.source.starts = batch.target.starts = {0};
  for (const std::int64_t sentence : sentences) {
    RandomStream random(3, static_cast<std::uint64_t>(sentence));
    const auto length = static_cast<std::int32_t>(2 + random.below(4));
    std::vector<TokenId> words;
    for (std::int32_t i = 0; i < length; ++i)
      words.push_back(static_cast<TokenId>(3 + random.below(27)));
    batch.source.tokens.insert(batch.source.tokens.end(), words.begin(), words.end());
    batch.target.tokens.insert(batch.target.tokens.end(), words.begin(), words.end());
    batch.links.emplace_back();
    for (std::int32_t i = 0; i < length; ++i) batch.links.back().push_back({i, i, 1});
    for (PackedSide* side : {&batch.source, &batch.target}) {
      side->tokens.push_back(2);
      side->starts.push_back(static_cast<std::int32_t>(side->tokens.size()));
    }
    batch.sentences.push_back(sentence);
  }
  return batch;
}

std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = first + i;
  return all;
}

/// The logarithms of the attention of linked target pieces at their links, for a layer from 0.
torch::Tensor log_mass_on_links(TrainingModel& model, const PackedBatch& batch,
                                GuidedDecoderAttention::Choice choice) {
  const torch::NoGradGuard no_grad;
  const auto on_device = [&](const PackedSide& side) {
    return packed_tokens(side.tokens, side.starts, model.config().heads, test_device());
  };
  const auto source = on_device(batch.source), target = on_device(batch.target);
  const auto memory = model.master()->encode(source);
  const BatchLinks links(batch.links, source.layout, target.layout);
  GuidedDecoderAttention attention(memory, source.layout, target.layout, links, choice);
  model.master()->decode(target, attention);
  return attention.log_weights();  // one link for each piece
}

TEST(GuidedAlignment, TrainingMovesTheAttentionToTheLinks) {
  if (StandInCounts::is_loaded())
    GTEST_SKIP() << "300 updates, whose loss and gradient the other tests check on the stand-in";
  const PackedBatch unseen = copies(numbers(1000, 20));
  const auto mass = [&](double weight, std::int64_t layer, std::int64_t head) {
    TrainingModel model(small_config(0.1), {}, Precision::Fp32, test_device(), 1);
    for (std::int64_t u = 1; u <= 100; ++u) {
      const auto sums = accumulate(
          model, copies(numbers(u * 8, 8)),
          {.alignment_weight = weight, .alignment_layer = layer, .alignment_head = head}, u);
      model.step({.loss = sums, .learning_rate = 5e-3, .clip_norm = 1});
    }
    return log_mass_on_links(model, unseen, {layer == 0 ? 1 : layer - 1, head})
        .exp()
        .mean()
        .item<double>();
  };
  EXPECT_LT(mass(0, 0, 1), 0.4);
  EXPECT_GT(mass(2, 0, 1), 0.6);
  EXPECT_GT(mass(2, 1, 2), 0.6);
}

TEST(GuidedAlignment, TheLossIsGivenForEachLinkedPiece) {
  const PackedBatch batch = copies(numbers(1, 9));
  TrainingModel model(small_config(0), {}, Precision::Fp32, test_device(), 1);
  const auto sums =
      accumulate(model, batch, {.alignment_weight = 2, .alignment_head = 1}, 1).read();
  EXPECT_EQ(sums.linked_tokens, batch.target.size() - 9);  // not </s>
  EXPECT_NEAR(sums.alignment / sums.linked_tokens,
              -log_mass_on_links(model, batch, {1, 1}).mean().item<double>(), 1e-5);
}

TEST(GuidedAlignment, TheGradientIsTheSameHoweverAnUpdateIsSplitIntoBatches) {
  const auto gradient = [](const std::vector<std::vector<std::int64_t>>& batches) {
    TrainingModel model(small_config(0.2), {.beta1 = 0}, Precision::Fp32, test_device(), 1);
    for (const auto& sentences : batches)
      accumulate(model, copies(sentences), {.alignment_weight = 2}, 1);
    model.step({.loss = {.target_tokens = 1}, .learning_rate = 0});
    return model.adam().first_moment.clone();
  };
  const auto split = gradient({{6, 2}, {1, 5, 4}, {3}}), whole = gradient({{1, 2, 3, 4, 5, 6}});
  EXPECT_LT((split - whole).norm().item<double>(), 1e-5 * whole.norm().item<double>());
}

}  // namespace
}  // namespace dragoman
