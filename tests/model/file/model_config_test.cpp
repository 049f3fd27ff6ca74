#include "model/file/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ModelConfig with_vocabulary(ModelConfig config, std::int64_t size) {
  config.source_vocabulary = config.target_vocabulary = size;
  return config;
}

std::int64_t parameters(const ModelConfig& config) {
  std::int64_t total = 0;
  for (const auto& [name, shape] : parameter_shapes(config))
    total += std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  return total;
}

/// A value other than the one in `field`.
std::string other_value(const Field& field) {
  const std::string text = field.text();
  switch (field.kind) {
    case Field::Kind::Flag:
      return text == "true" ? "false" : "true";
    case Field::Kind::Integer:
      return field.info.name == "heads" ? "2" : "48";
    case Field::Kind::Number:
      return "0.123456789012345";
    default:
      return std::string(field.choices[text == field.choices[0] ? 1 : 0]);
  }
}

TEST(ModelConfig, BaseAndBigHaveThePapersParameterCounts) {
  EXPECT_EQ(parameters(with_vocabulary(ModelConfig::from_preset(Preset::Base), 37'000)),
            63'082'496);
  EXPECT_EQ(parameters(with_vocabulary(ModelConfig::from_preset(Preset::Big), 37'000)),
            214'245'376);
}

TEST(ModelConfig, EveryPresetIsValid) {
  for (Preset preset : {Preset::Tiny, Preset::Small, Preset::Base, Preset::Big})
    EXPECT_NO_THROW(ModelConfig::from_preset(preset).check());
}

TEST(ModelConfig, OptionsChangeTheParametersAsTheyShould) {
  const ModelConfig three_way = with_vocabulary(ModelConfig::from_preset(Preset::Tiny), 100);
  const std::int64_t d = three_way.d_model;
  const auto difference = [&](auto change) {
    ModelConfig config = three_way;
    change(config);
    return parameters(config) - parameters(three_way);
  };
  EXPECT_EQ(difference([](ModelConfig& c) { c.tying = Tying::TwoWay; }), 100 * d);
  EXPECT_EQ(difference([](ModelConfig& c) { c.tying = Tying::None; }), 2 * 100 * d);
  EXPECT_EQ(difference([](ModelConfig& c) { c.output_bias = true; }), 100);
  EXPECT_EQ(difference([](ModelConfig& c) { c.norm = NormPosition::After; }), -2 * 2 * d);
  EXPECT_EQ(difference([](ModelConfig& c) { c.norm = NormPosition::BeforeQueries; }), 0);
  EXPECT_EQ(difference([](ModelConfig& c) { c.positions = Positions::Learned; }), 2 * 1024 * d);
  EXPECT_EQ(difference([](ModelConfig& c) { c.activation = Activation::GatedGelu; }),
            8 * (d + 1) * three_way.d_ff);
}

TEST(ModelConfig, NoTwoParametersShareAName) {
  ModelConfig config = with_vocabulary(ModelConfig::from_preset(Preset::Tiny), 100);
  config.tying = Tying::None;
  config.output_bias = true;
  config.positions = Positions::Learned;
  config.activation = Activation::GatedSwish;
  std::set<std::string> names;
  for (const auto& parameter : parameter_shapes(config))
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
}

TEST(ModelConfig, QueryKeyAndValueStandSideBySide) {
  const auto shapes = parameter_shapes(with_vocabulary(ModelConfig::from_preset(Preset::Tiny), 9));
  std::vector<std::string> names;
  for (const auto& [name, shape] : shapes)
    if (name.starts_with("decoder.layers.0.cross_attention.")) names.push_back(name.substr(33));
  EXPECT_THAT(names,
              ::testing::ElementsAre("query.weight", "key.weight", "value.weight", "query.bias",
                                     "key.bias", "value.bias", "output.weight", "output.bias"));
}

TEST(ModelConfig, JsonKeepsEveryField) {
  ModelConfig config = with_vocabulary(ModelConfig{}, 500);
  config.unk_id = 3;
  config.bos_id = 4;
  config.eos_id = 5;
  config.norm_epsilon = 1e-6;
  ModelConfig original = config;
  for (Field& field : fields_of(config)) field.assign({other_value(field)});
  config.target_vocabulary = 400;  // tying is no longer three-way
  ModelConfig copy = model_config_from_json(to_json(config));
  EXPECT_EQ(to_json(copy), to_json(config));
  const auto fields = fields_of(config), before = fields_of(original), after = fields_of(copy);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    EXPECT_NE(fields[i].text(), before[i].text()) << fields[i].info.name;
    EXPECT_EQ(fields[i].text(), after[i].text()) << fields[i].info.name;
  }
  EXPECT_EQ(copy.source_vocabulary, 500);
  EXPECT_EQ(copy.target_vocabulary, 400);
  EXPECT_EQ(copy.unk_id * 100 + copy.bos_id * 10 + copy.eos_id, 345);
  EXPECT_EQ(copy.norm_epsilon, 1e-6);
}

TEST(ModelConfig, TheFirstModelFilesLackTheEpsilon) {
  ModelConfig config = with_vocabulary(ModelConfig{}, 500);
  config.norm_epsilon = 1e-6;
  auto json = parse_json(to_json(config));
  json.erase("norm-epsilon");
  EXPECT_EQ(model_config_from_json(json_text(json)).norm_epsilon, 1e-5);
}

TEST(ModelConfig, SourcesEndUnlessTheModelSaysOtherwise) {
  ModelConfig config = with_vocabulary(ModelConfig{}, 500);
  ASSERT_TRUE(config.source_eos);
  auto json = parse_json(to_json(config));
  EXPECT_FALSE(json.contains("source-eos")) << "earlier versions read the file";
  EXPECT_TRUE(model_config_from_json(json_text(json)).source_eos);
  config.source_eos = false;
  json = parse_json(to_json(config));
  EXPECT_EQ(json.at("source-eos"), false);
  EXPECT_FALSE(model_config_from_json(json_text(json)).source_eos);
  json["source-eos"] = "no";
  EXPECT_THAT([&] { model_config_from_json(json_text(json)); },
              ThrowsMessage<Error>(Names("\"source-eos\" ... type")));
}

TEST(ModelConfig, EmbeddingsAreNormalisedIfTheModelSaysSo) {
  ModelConfig config = with_vocabulary(ModelConfig{}, 500);
  EXPECT_FALSE(parse_json(to_json(config)).contains("embedding-norm"));
  config.embedding_norm = true;
  EXPECT_TRUE(model_config_from_json(to_json(config)).embedding_norm);
}

TEST(ModelConfig, JsonWithoutAFieldOrWithAWrongOneIsRefused) {
  const auto good = parse_json(to_json(with_vocabulary(ModelConfig{}, 500)));
  ASSERT_NO_THROW(model_config_from_json(json_text(good)));
  for (const auto& [key, value] : good.items()) {
    auto missing = good;
    missing.erase(key);
    if (key != "norm-epsilon") {
      EXPECT_THROW(model_config_from_json(json_text(missing)), Error) << key;
    }
    for (const char* wrong : {"null", "[1]", "-1", "1e30", "18446744073709551615", "\"x\"", "{}"}) {
      auto changed = good;
      changed[key] = parse_json(wrong);
      EXPECT_THROW(model_config_from_json(json_text(changed)), Error) << key << " = " << wrong;
    }
  }
  auto deep = good;
  deep["norm-epsilon"] = "?";
  std::string text = json_text(deep);
  text.replace(text.find("\"?\""), 3, std::string(200'000, '[') + std::string(200'000, ']'));
  EXPECT_THROW(model_config_from_json(text), Error);
  auto more = good;
  more["rotary"] = true;
  EXPECT_THAT([&] { model_config_from_json(json_text(more)); },
              ThrowsMessage<Error>(HasSubstr("rotary")));
  for (const char* text : {"", "{", "[]", "null", "{} {}", "\xff"})
    EXPECT_THROW(model_config_from_json(text), Error) << text;
}

TEST(ModelConfig, ThreeWayTyingNeedsOneVocabulary) {
  ModelConfig config = with_vocabulary(ModelConfig{}, 500);
  config.target_vocabulary = 400;
  EXPECT_THROW(model_config_from_json(to_json(config)), Error);
}

TEST(ModelConfig, AnErrorNamesTheFlag) {
  const auto expect_refused = [](auto change, const std::string& flag) {
    ModelConfig config;
    change(config);
    EXPECT_THAT([&] { config.check(); }, ThrowsMessage<UsageError>(HasSubstr(flag)));
  };
  expect_refused([](ModelConfig& c) { c.heads = 7; }, "--heads");
  expect_refused([](ModelConfig& c) { c.heads = 0; }, "--heads");
  expect_refused([](ModelConfig& c) { c.d_model = -512; }, "--d-model");
  expect_refused([](ModelConfig& c) { c.d_model = c.heads = 3; }, "--d-model");
  expect_refused([](ModelConfig& c) { c.d_ff = 0; }, "--d-ff");
  expect_refused([](ModelConfig& c) { c.encoder_layers = 0; }, "--encoder-layers");
  expect_refused([](ModelConfig& c) { c.decoder_layers = 1'000'000'000; }, "--decoder-layers");
  expect_refused([](ModelConfig& c) { c.dropout = 1; }, "--dropout");
  expect_refused([](ModelConfig& c) { c.attention_dropout = -0.1; }, "--attention-dropout");
  expect_refused([](ModelConfig& c) { c.activation_dropout = NAN; }, "--activation-dropout");
}

}  // namespace
}  // namespace dragoman
