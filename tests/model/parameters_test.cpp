#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/model/examples.h"

namespace dragoman {
namespace {

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

}  // namespace
}  // namespace dragoman
