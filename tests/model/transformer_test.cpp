// The whole model: identities (changes of the input that must not change the result), its
// parameters, and how it is loaded.
#include "model/transformer.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "model/ops/kernel_call.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/model/examples.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {
namespace {

ModelConfig with_dropout() {
  ModelConfig config = small_config();
  config.dropout = 0.2;
  config.attention_dropout = 0.3;
  config.activation_dropout = 0.4;
  return config;
}

void expect_same_states(const HiddenStates& actual, const HiddenStates& expected) {
  expect_close(actual.memory, expected.memory, 1e-5, "memory");
  expect_close(actual.hidden, expected.hidden, 1e-5, "hidden");
}

double largest_change(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

TEST(Transformer, ALaterTargetTokenChangesNoEarlierHiddenState) {
  auto model = initialized(small_config());
  const auto pairs = pairs_of({{4, 6}, {7, 8}});
  const auto before = hidden_states(model, pairs, RowKeys::None);
  for (std::int64_t position = 0; position < 8; ++position) {
    auto changed = pairs;
    changed[1].target[position] = (changed[1].target[position] + 1) % 11;
    const auto after = hidden_states(model, changed, RowKeys::None);
    // Position t is predicted from the tokens before it.
    EXPECT_EQ(largest_change(after[1].hidden.slice(0, 0, position + 1),
                             before[1].hidden.slice(0, 0, position + 1)),
              0);
    for (std::int64_t later = position + 1; later < 8; ++later)
      EXPECT_GT(largest_change(after[1].hidden[later], before[1].hidden[later]), 1e-3);
    EXPECT_EQ(largest_change(after[0].hidden, before[0].hidden), 0);
  }
}

TEST(Transformer, EverySourceTokenReachesEveryHiddenState) {
  auto model = initialized(small_config());
  const auto pairs = pairs_of({{5, 4}});
  const auto before = hidden_states(model, pairs, RowKeys::None);
  for (std::int64_t position = 0; position < 5; ++position) {
    auto changed = pairs;
    changed[0].source[position] = (changed[0].source[position] + 1) % 11;
    const auto after = hidden_states(model, changed, RowKeys::None);
    for (std::int64_t t = 0; t < 4; ++t)
      EXPECT_GT(largest_change(after[0].hidden[t], before[0].hidden[t]), 1e-4);
  }
}

class InABatch : public testing::TestWithParam<RowKeys> {
 protected:
  Transformer model_ = initialized(with_dropout());
  const std::vector<Pair> pairs_ = pairs_of({{4, 6}, {1, 9}, {13, 1}, {5, 6}});
};

TEST_P(InABatch, ASentenceHasTheStatesThatItHasAlone) {
  const auto together = hidden_states(model_, pairs_, GetParam());
  for (std::size_t b = 0; b < pairs_.size(); ++b)
    expect_same_states(together[b], hidden_states(model_, {pairs_[b]}, GetParam())[0]);
}

TEST_P(InABatch, SentencesMayComeInAnyOrder) {
  const auto expected = hidden_states(model_, pairs_, GetParam());
  std::vector<std::size_t> order = {0, 1, 2, 3};
  while (std::next_permutation(order.begin(), order.end())) {
    std::vector<Pair> permuted;
    for (const std::size_t b : order) permuted.push_back(pairs_[b]);
    const auto states = hidden_states(model_, permuted, GetParam());
    for (std::size_t i = 0; i < order.size(); ++i)
      expect_same_states(states[i], expected[order[i]]);
  }
}

TEST_P(InABatch, AnotherSentenceMayBeReplaced) {
  const auto before = hidden_states(model_, pairs_, GetParam());
  auto changed = pairs_;
  changed[2] = {99, random_sentence(99, 6), random_sentence(98, 12)};
  const auto after = hidden_states(model_, changed, GetParam());
  for (const std::size_t b : {0, 1, 3}) expect_same_states(after[b], before[b]);
}

INSTANTIATE_TEST_SUITE_P(Dropout, InABatch, testing::Values(RowKeys::None, RowKeys::PerSentence),
                         [](const auto& test) {
                           return test.param == RowKeys::None ? "Off" : "On";
                         });

TEST(Transformer, DropoutDependsOnTheSentenceNumber) {
  auto model = initialized(with_dropout());
  auto pairs = pairs_of({{4, 6}});
  const auto plain = hidden_states(model, pairs, RowKeys::None);
  const auto one = hidden_states(model, pairs, RowKeys::PerSentence);
  pairs[0].number = 1;
  const auto other = hidden_states(model, pairs, RowKeys::PerSentence);
  EXPECT_GT(largest_change(one[0].hidden, plain[0].hidden), 0.1);
  EXPECT_GT(largest_change(one[0].hidden, other[0].hidden), 0.1);
}

TEST(Transformer, EachDropoutRateHasItsPlaces) {
  const auto pairs = pairs_of({{4, 6}});
  const auto states_with = [&](double ModelConfig::*rate) {
    ModelConfig config = small_config();
    config.*rate = 0.5;
    auto model = initialized(config);
    return hidden_states(model, pairs, RowKeys::PerSentence)[0].hidden;
  };
  auto model = initialized(small_config());
  const auto plain = hidden_states(model, pairs, RowKeys::PerSentence)[0].hidden;
  EXPECT_EQ(largest_change(plain, hidden_states(model, pairs, RowKeys::None)[0].hidden), 0);
  for (const auto rate :
       {&ModelConfig::dropout, &ModelConfig::attention_dropout, &ModelConfig::activation_dropout})
    EXPECT_GT(largest_change(states_with(rate), plain), 0.01);
}

TEST(Transformer, StatesInBf16StayNearFp32) {
  const auto pairs = pairs_of({{4, 6}, {12, 9}});
  for (const RowKeys row_keys : {RowKeys::None, RowKeys::PerSentence}) {
    auto exact = initialized(with_dropout()), rounded = initialized(with_dropout());
    rounded->to(torch::kBFloat16);
    const auto expected = hidden_states(exact, pairs, row_keys);
    const auto states = hidden_states(rounded, pairs, row_keys);
    for (std::size_t b = 0; b < pairs.size(); ++b) {
      ASSERT_EQ(states[b].hidden.scalar_type(), torch::kBFloat16);
      const auto difference = states[b].hidden.to(torch::kFloat32) - expected[b].hidden;
      EXPECT_LT((difference.norm() / expected[b].hidden.norm()).item<double>(), 0.02);
    }
  }
}

struct Decoded {
  torch::Tensor hidden;
  std::vector<torch::Tensor> gradients;
};

TEST(Transformer, KeysAndValuesOfAllLayersByOneProductAreThoseOfEachLayer) {
  auto model = initialized(small_config());
  const auto batch = packed(pairs_of({{4, 6}, {9, 3}}), model->config.heads, RowKeys::None);
  const WithoutKernels without;
  const auto decoded = [&](bool by_one_product) {
    model->zero_grad();
    const auto memory = model->encode(batch.source);
    PackedDecoderAttention attention(memory, batch.source.layout, batch.target.layout);
    if (by_one_product) attention.project_memory(*model->decoder);
    Decoded result{model->decode(batch.target, attention), {}};
    result.hidden.backward(closed_form(result.hidden.sizes()));
    for (const auto& parameter : model->parameters())
      if (parameter.grad().defined()) result.gradients.push_back(parameter.grad().clone());
    return result;
  };
  const Decoded each = decoded(false), all = decoded(true);
  expect_close(all.hidden, each.hidden, 1e-5);
  ASSERT_EQ(all.gradients.size(), each.gradients.size());
  for (std::size_t i = 0; i < all.gradients.size(); ++i)
    expect_close(all.gradients[i], each.gradients[i], 1e-5, std::to_string(i));
}

TEST(Transformer, OnADeviceADecoderProjectsTheMemoryOnce) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  const auto config = small_config();
  auto model = initialized(config);
  const auto batch = packed(pairs_of({{4, 6}, {9, 3}}), config.heads, RowKeys::None);
  const auto memory = model->encode(batch.source);
  const StandInCounts counts;
  model->decode(batch.target, memory, batch.source.layout);
  // Self-attention and the feed-forward network have two each in a layer, cross-attention has the
  // queries' and the output's.
  EXPECT_EQ(counts.launches_of("aten::addmm.out"), config.decoder_layers * 6 + 1);
}

TEST(Transformer, TheOutputBiasIsAddedToTheLogits) {
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
  add([](ModelConfig& c) { c.norm = NormPosition::BeforeQueries; });
  add([](ModelConfig& c) { c.tying = Tying::TwoWay; });
  add([](ModelConfig& c) { c.positions = Positions::Learned; });
  add([](ModelConfig& c) { c.output_bias = true; });
  add([](ModelConfig& c) { c.embedding_norm = true; });
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

TEST(Transformer, EveryOptionGivesEachParameterAGradient) {
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

// The parameters

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

Shapes shapes_of(const Transformer& model) {
  Shapes shapes;
  for (const auto& item : model->named_parameters())
    shapes[item.key()] = item.value().sizes().vec();
  return shapes;
}

Shapes listed_shapes(const ModelConfig& config) {
  Shapes shapes;
  for (const ParameterShape& parameter : parameter_shapes(config))
    shapes[parameter.name] = parameter.shape;
  return shapes;
}

/// Every combination of the options that decide names and shapes.
std::vector<ModelConfig> all_options() {
  std::vector<ModelConfig> configs;
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None})
    for (const NormPosition norm :
         {NormPosition::After, NormPosition::Before, NormPosition::BeforeQueries})
      for (const Activation activation : {Activation::Relu, Activation::Gelu, Activation::Swish,
                                          Activation::GatedGelu, Activation::GatedSwish})
        for (const Positions positions :
             {Positions::Sinusoidal, Positions::Learned, Positions::Marian})
          for (const bool output_bias : {false, true}) {
            ModelConfig config = small_config();
            config.tying = tying;
            config.norm = norm;
            config.activation = activation;
            config.positions = positions;
            config.max_positions = 5;
            config.output_bias = config.embedding_norm = output_bias;
            if (tying != Tying::ThreeWay) config.target_vocabulary = 7;
            configs.push_back(config);
          }
  return configs;
}

TEST(Parameters, ParametersHaveTheNamesAndShapesThatTheModelFileKnows) {
  for (const ModelConfig& config : all_options())
    EXPECT_EQ(shapes_of(Transformer(config)), listed_shapes(config)) << to_json(config);
}

TEST(Parameters, ParametersAreAsManyAsInThePaperForItsPresets) {
  // Table 3 rounds them to 65 and 213 million, with about 37,000 pieces.
  const std::map<Preset, std::int64_t> expected = {{Preset::Base, 63'082'496},
                                                   {Preset::Big, 214'245'376}};
  for (const auto& [preset, count] : expected) {
    ModelConfig config = ModelConfig::from_preset(preset);
    config.source_vocabulary = config.target_vocabulary = 37'000;
    std::int64_t total = 0;
    for (const auto& [name, shape] : listed_shapes(config))
      total += std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    EXPECT_EQ(total, count);
  }
}

TEST(Initialization, InitialWeightsAreAFunctionOfTheSeedAlone) {
  const ModelConfig config = small_config();
  Transformer one(config), same(config), other(config);
  one->initialize(1);
  other->initialize(2);
  same->initialize(3);
  same->initialize(1);
  const auto again = same->named_parameters(), different = other->named_parameters();
  for (const auto& item : one->named_parameters()) {
    EXPECT_TRUE(item.value().equal(again[item.key()])) << item.key();
    const bool random = item.value().dim() == 2;  // not a bias, not a normalisation
    EXPECT_EQ(item.value().equal(different[item.key()]), !random) << item.key();
  }
}

TEST(Initialization, NoTwoMatricesBeginWithTheSameNumbers) {
  Transformer model(small_config());
  model->initialize(1);
  std::map<double, std::string> sums;
  for (const auto& item : model->named_parameters()) {
    if (item.value().dim() != 2) continue;
    const auto [found, is_new] = sums.emplace(item.value().sum().item<double>(), item.key());
    EXPECT_TRUE(is_new) << item.key() << " equals " << found->second;
  }
}

TEST(Initialization, InitialWeightsHaveTheDocumentedSpread) {
  ModelConfig config = small_config();
  config.d_model = 64;
  config.d_ff = 128;
  config.source_vocabulary = config.target_vocabulary = 100;
  config.encoder_layers = config.decoder_layers = 1;
  config.tying = Tying::None;
  config.output_bias = true;
  config.norm = NormPosition::Before;
  config.positions = Positions::Learned;
  config.max_positions = 100;
  Transformer model(config);
  model->initialize(1);
  for (const auto& item : model->named_parameters()) {
    const std::string& name = item.key();
    const auto& values = item.value();
    if (values.dim() == 1) {
      const bool gain = name.find("norm.weight") != std::string::npos;
      EXPECT_TRUE(values.eq(gain ? 1 : 0).all().item<bool>()) << name;
      continue;
    }
    const bool linear = name.starts_with("encoder") || name.starts_with("decoder");
    const double fans = static_cast<double>(values.size(0) + values.size(1));
    const double variance = linear ? 2 / fans : 1.0 / 64;
    const double count = static_cast<double>(values.numel());
    // The variance of a sample varies by sqrt((kurtosis - 1) / count) of itself, at most sqrt(2).
    EXPECT_NEAR(values.var().item<double>(), variance, 5 * std::sqrt(2 / count) * variance) << name;
    EXPECT_NEAR(values.mean().item<double>(), 0, 5 * std::sqrt(variance / count)) << name;
    if (linear) {
      EXPECT_LE(values.abs().max().item<double>(), std::sqrt(6 / fans) * 1.000001) << name;
    }
  }
}

// Loading

void write(const std::filesystem::path& path, Transformer& model) {
  ModelContents contents;
  contents.config = model->config;
  contents.tokenizer_source = "none";
  for (const auto& item : model->named_parameters())
    contents.parameters.push_back(
        {item.key(), Dtype::F32, item.value().sizes().vec(), item.value().const_data_ptr()});
  write_model_file(path, contents);
}

/// With every option that adds parameters.
ModelConfig full_config() {
  ModelConfig config;
  config.d_model = 8;
  config.heads = 2;
  config.d_ff = 12;
  config.encoder_layers = 1;
  config.decoder_layers = 2;
  config.norm = NormPosition::Before;
  config.activation = Activation::GatedGelu;
  config.positions = Positions::Learned;
  config.max_positions = 5;
  config.tying = Tying::None;
  config.output_bias = true;
  config.source_vocabulary = 9;
  config.target_vocabulary = 7;
  return config;
}

TEST(LoadTransformer, TheLoadedModelIsTheOneThatWasWritten) {
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None}) {
    ModelConfig config = full_config();
    config.tying = tying;
    if (tying == Tying::ThreeWay) config.target_vocabulary = config.source_vocabulary;
    Transformer model(config);
    model->initialize(3);
    const ScratchFile file("transformer.safetensors");
    write(file.path(), model);
    auto loaded = load_transformer(ModelFileReader(file.path()), torch::kCPU);
    const auto expected = model->named_parameters();
    ASSERT_EQ(loaded->named_parameters().size(), expected.size());
    for (const auto& item : loaded->named_parameters()) {
      EXPECT_TRUE(item.value().equal(*expected.find(item.key()))) << item.key();
      EXPECT_FALSE(item.value().requires_grad());
    }
  }
}

}  // namespace
}  // namespace dragoman
