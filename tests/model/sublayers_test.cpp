#include "model/sublayers.h"

#include <cmath>

#include "tests/model/examples.h"

namespace dragoman {
namespace {

/// norm: before or before-queries.
class NormBefore : public testing::TestWithParam<NormPosition> {};

TEST_P(NormBefore, TheInputOfEachSubLayerAndTheOutputOfEachStackAreNormalised) {
  ModelConfig config = small_config();
  config.norm = GetParam();
  const auto self_input = [&](torch::nn::LayerNorm& norm, const torch::Tensor& x) {
    const torch::Tensor normed = norm(x);
    return SelfAttentionInput{normed, config.norm == NormPosition::Before ? normed : x};
  };
  auto model = initialized(config);
  const PackedLayout source = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).source.layout;
  const PackedLayout target = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).target.layout;
  const auto input = closed_form({source.tokens, 16}),
             start = closed_form({target.tokens, 16}, 0.5);

  auto x = input;
  for (const auto& module : *model->encoder->layers) {
    auto& layer = *module->as<EncoderLayerImpl>();
    x = x + layer.self_attention->self(self_input(layer.self_attention_norm, x), source,
                                       AttentionMask::Sentence);
    x = x + layer.feed_forward(layer.feed_forward_norm(x), torch::Tensor());
  }
  const auto memory = model->encoder(input, source);
  expect_close(memory, model->encoder->norm(x), 1e-5);

  auto y = start;
  for (const auto& module : *model->decoder->layers) {
    auto& layer = *module->as<DecoderLayerImpl>();
    y = y + layer.self_attention->self(self_input(layer.self_attention_norm, y), target,
                                       AttentionMask::Causal);
    y = y + layer.cross_attention->cross(layer.cross_attention_norm(y), memory, target, source);
    y = y + layer.feed_forward(layer.feed_forward_norm(y), torch::Tensor());
  }
  PackedDecoderAttention attention(memory, source, target);
  expect_close(model->decoder(start, attention, torch::Tensor()), model->decoder->norm(y), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Positions, NormBefore,
                         testing::Values(NormPosition::Before, NormPosition::BeforeQueries));

/// Queries of one input and keys and values of another, by equation 1.
TEST(SelfAttention, AttentionOfTwoInputsIsTheFormula) {
  auto model = initialized(small_config());
  auto& module = model->encoder->layers[0]->as<EncoderLayerImpl>()->self_attention;
  const auto layout = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).source.layout;
  const auto queries = closed_form({7, 16}), keys = closed_form({7, 16}, 0.5);
  for (const AttentionMask mask : {AttentionMask::Sentence, AttentionMask::Causal}) {
    std::vector<torch::Tensor> sentences;
    for (const auto& [begin, length] : {std::pair{0, 3}, {3, 4}}) {
      const auto heads = [&, begin = begin, length = length](const torch::Tensor& x) {
        return x.narrow(0, begin, length).view({length, 2, 8}).transpose(0, 1);  // [H, N, K]
      };
      auto scores =
          heads(module->query(queries)).matmul(heads(module->key(keys)).mT()) / std::sqrt(8);
      if (mask == AttentionMask::Causal)
        scores = scores.masked_fill(torch::ones_like(scores[0]).triu(1).to(torch::kBool),
                                    -std::numeric_limits<float>::infinity());
      const auto context = scores.softmax(-1).matmul(heads(module->value(keys)));
      sentences.push_back(context.transpose(0, 1).reshape({length, 16}));
    }
    expect_close(module->self({queries, keys}, layout, mask), module->output(torch::cat(sentences)),
                 1e-5);
  }
}

TEST(FeedForward, TheActivationIsApplied) {
  const auto x = closed_form({5, 16});
  const auto gelu = [](const torch::Tensor& v) { return v * 0.5 * (1 + (v / std::sqrt(2)).erf()); };
  const auto swish = [](const torch::Tensor& v) { return v / (1 + v.neg().exp()); };
  for (const Activation activation : {Activation::Relu, Activation::Gelu, Activation::Swish,
                                      Activation::GatedGelu, Activation::GatedSwish}) {
    ModelConfig config = small_config();
    config.activation = activation;
    FeedForward module(config, 0);
    module->to(test_device());
    const auto inner = module->inner(x);
    torch::Tensor hidden;
    switch (activation) {
      case Activation::Relu:
        hidden = inner.clamp_min(0);
        break;
      case Activation::Gelu:
        hidden = gelu(inner);
        break;
      case Activation::Swish:
        hidden = swish(inner);
        break;
      case Activation::GatedGelu:
        hidden = gelu(module->gate(x)) * inner;
        break;
      case Activation::GatedSwish:
        hidden = swish(module->gate(x)) * inner;
        break;
    }
    expect_close(module(x, torch::Tensor()), module->outer(hidden), 1e-5);
  }
}

}  // namespace
}  // namespace dragoman
