// The options beside the paper's model: positions, activations, norms, ties, depths.
#include <cmath>

#include "base/error.h"
#include "tests/model/examples.h"

namespace dragoman {
namespace {

TEST(PositionalEncoding, IsThePapersFormula) {
  constexpr std::int64_t positions = 300, width = 10;
  const auto encoding = sinusoidal_encoding(positions, width);
  for (const std::int64_t pos : {0, 1, 2, 17, 299})
    for (std::int64_t i = 0; 2 * i < width; ++i) {
      const double angle =
          static_cast<double>(pos) / std::pow(10000.0, 2.0 * static_cast<double>(i) / width);
      EXPECT_NEAR(encoding[pos][2 * i].item<double>(), std::sin(angle), 1e-6);
      EXPECT_NEAR(encoding[pos][2 * i + 1].item<double>(), std::cos(angle), 1e-6);
    }
}

TEST(PositionalEncoding, IsAddedAtAnyPosition) {
  PositionalEncoding module(small_config());
  for (const std::int64_t pos : {0, 5, 1000, 3}) {  // the table grows and stays
    const auto positions = torch::tensor({pos, std::int64_t{1}}, torch::kInt64).to(test_device());
    const auto x = closed_form({2, 16});
    const auto expected =
        x + sinusoidal_encoding(1001, 16).to(test_device()).index_select(0, positions);
    expect_close(module->source(x, positions), expected, 1e-6);
    expect_close(module->target(x, positions), expected, 1e-6);
  }
}

ModelConfig learned_positions() {
  ModelConfig config = small_config();
  config.positions = Positions::Learned;
  config.max_positions = 6;
  return config;
}

TEST(LearnedPositions, AreAddedToEachSide) {
  auto model = initialized(learned_positions());
  const auto positions = torch::tensor({5, 0, 2}, torch::kInt64).to(test_device());
  const auto x = closed_form({3, 16});
  const auto parameters = model->named_parameters();
  const auto row = [&](const std::string& side) {
    return parameters["positions." + side + ".weight"].index({positions});
  };
  expect_close(model->positions->source(x, positions), x + row("source"), 1e-6);
  expect_close(model->positions->target(x, positions), x + row("target"), 1e-6);
}

TEST(LearnedPositions, RefuseALongerSentenceWithItsLength) {
  auto model = initialized(learned_positions());
  EXPECT_NO_THROW(hidden_states(model, pairs_of({{6, 6}}), RowKeys::None));
  for (const auto& lengths : {std::pair<std::int64_t, std::int64_t>{7, 6}, {6, 7}}) {
    try {
      hidden_states(model, pairs_of({{3, 3}, lengths}), RowKeys::None);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "a sentence has 7 pieces, but this model has learned 6 positions "
                   "(--max-positions)");
    }
  }
}

TEST(FeedForward, AppliesItsActivation) {
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

TEST(NormBefore, NormalisesTheInputOfEachSubLayerAndTheOutputOfEachStack) {
  ModelConfig config = small_config();
  config.norm = NormPosition::Before;
  auto model = initialized(config);
  const PackedLayout source = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).source.layout;
  const PackedLayout target = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).target.layout;
  const auto input = closed_form({source.tokens, 16}),
             start = closed_form({target.tokens, 16}, 0.5);

  auto x = input;
  for (const auto& module : *model->encoder->layers) {
    auto& layer = *module->as<EncoderLayerImpl>();
    const auto normed = layer.self_attention_norm(x);
    x = x + layer.self_attention(normed, normed, source, source, AttentionMask::Padding);
    x = x + layer.feed_forward(layer.feed_forward_norm(x), torch::Tensor());
  }
  const auto memory = model->encoder(input, source);
  expect_close(memory, model->encoder->norm(x), 1e-5);

  auto y = start;
  for (const auto& module : *model->decoder->layers) {
    auto& layer = *module->as<DecoderLayerImpl>();
    const auto normed = layer.self_attention_norm(y);
    y = y + layer.self_attention(normed, normed, target, target, AttentionMask::Causal);
    y = y + layer.cross_attention(layer.cross_attention_norm(y), memory, target, source,
                                  AttentionMask::Padding);
    y = y + layer.feed_forward(layer.feed_forward_norm(y), torch::Tensor());
  }
  PackedDecoderAttention attention(memory, source, target);
  expect_close(model->decoder(start, attention, torch::Tensor()), model->decoder->norm(y), 1e-5);
}

TEST(Tying, UsesOneMatrixWhereTheConfigurationSaysSo) {
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None}) {
    ModelConfig config = small_config();
    config.tying = tying;
    auto model = initialized(config);
    const auto source = model->embedding->source_weight();
    const auto target = model->embedding->target_weight();
    EXPECT_EQ(source.is_same(target), tying == Tying::ThreeWay);
    EXPECT_EQ(target.is_same(model->output_weight()), tying != Tying::None);
  }
}

TEST(OutputBias, IsAddedToTheLogits) {
  ModelConfig config = small_config();
  config.output_bias = true;
  auto model = initialized(config);
  const torch::NoGradGuard no_grad;
  model->output_bias().copy_(closed_form({11}));
  const auto hidden = closed_form({3, 16}, 0.5);
  expect_close(model->logits(hidden), hidden.matmul(model->output_weight().t()) + closed_form({11}),
               1e-5);
}

/// Each option alone, and several together.
std::vector<ModelConfig> configurations() {
  std::vector<ModelConfig> configs;
  const auto add = [&configs](auto&& change) {
    configs.push_back(small_config());
    change(configs.back());
  };
  add([](ModelConfig&) {});
  add([](ModelConfig& c) { c.norm = NormPosition::Before; });
  add([](ModelConfig& c) { c.tying = Tying::TwoWay; });
  add([](ModelConfig& c) { c.positions = Positions::Learned; });
  add([](ModelConfig& c) { c.output_bias = true; });
  add([](ModelConfig& c) { c.encoder_layers = 4, c.decoder_layers = 1; });
  add([](ModelConfig& c) { c.heads = 1; });
  add([](ModelConfig& c) { c.heads = 16; });
  add([](ModelConfig& c) { c.dropout = c.attention_dropout = c.activation_dropout = 0.1; });
  for (const Activation activation :
       {Activation::Gelu, Activation::Swish, Activation::GatedGelu, Activation::GatedSwish})
    add([=](ModelConfig& c) { c.activation = activation; });
  add([](ModelConfig& c) {
    c.norm = NormPosition::Before;
    c.tying = Tying::None;
    c.source_vocabulary = 13;
    c.positions = Positions::Learned;
    c.activation = Activation::GatedSwish;
    c.output_bias = true;
    c.dropout = c.attention_dropout = c.activation_dropout = 0.1;
  });
  return configs;
}

TEST(Options, TrainWithAGradientForEveryParameter) {
  const auto pairs = pairs_of({{5, 9}, {8, 3}, {1, 1}});
  for (const ModelConfig& config : configurations())
    for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
      auto model = initialized(config);
      model->to(type);
      const auto loss = mean_loss(model, packed(pairs, config.heads, RowKeys::PerSentence));
      EXPECT_NEAR(loss.item<double>(), std::log(11), 1.5) << to_json(config);
      loss.backward();
      for (const auto& item : model->named_parameters()) {
        ASSERT_TRUE(item.value().grad().defined()) << item.key();
        const double norm = item.value().grad().norm().item<double>();
        EXPECT_TRUE(std::isfinite(norm)) << item.key();
        // The same number added to all keys' scores changes no weight, so its gradient is zero.
        if (!item.key().ends_with("key.bias")) {
          EXPECT_GT(norm, 1e-6) << item.key() << " of " << to_json(config);
        }
      }
    }
}

}  // namespace
}  // namespace dragoman
