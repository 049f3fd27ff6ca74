// Identities of the whole model: changes of the input that must not change the result.
#include "model/transformer.h"

#include <algorithm>
#include <cmath>

#include "tests/model/examples.h"

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

}  // namespace
}  // namespace dragoman
