#include "model/embedding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/model/examples.h"
#include "tests/names.h"

namespace dragoman {
namespace {

TEST(Tying, TiedEmbeddingsAreOneMatrixIfTheConfigurationSaysSo) {
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

TEST(PositionalEncoding, TheEncodingIsThePapersFormula) {
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

TEST(PositionalEncoding, MariansEncodingEndsWithTheFrequencyOfATenThousandth) {
  constexpr std::int64_t positions = 300, width = 10;
  ModelConfig config = small_config();
  config.positions = Positions::Marian;
  config.d_model = width;
  PositionalEncoding module(config);
  const auto places = torch::arange(positions, torch::kInt64).to(test_device());
  const auto encoding =
      module->source(torch::zeros({positions, width}).to(test_device()), places, positions);
  for (const std::int64_t pos : {0, 1, 2, 17, 299})
    for (std::int64_t i = 0; 2 * i < width; ++i) {
      // Marian: numTimescales = D / 2, log(10000) / (numTimescales - 1) from one to the next
      const double angle =
          static_cast<double>(pos) * std::exp(static_cast<double>(-i) * std::log(10000.0) / 4.0);
      EXPECT_NEAR(encoding[pos][2 * i].item<double>(), std::sin(angle), 1e-6);
      EXPECT_NEAR(encoding[pos][2 * i + 1].item<double>(), std::cos(angle), 1e-6);
    }
}

TEST(PositionalEncoding, TheEncodingIsAddedAtAnyPosition) {
  PositionalEncoding module(small_config());
  for (const std::int64_t pos : {0, 5, 1000, 3}) {  // the table grows and stays
    const auto positions = torch::tensor({pos, std::int64_t{1}}, torch::kInt64).to(test_device());
    const auto x = closed_form({2, 16});
    const auto expected =
        x + sinusoidal_encoding(1001, 16).to(test_device()).index_select(0, positions);
    expect_close(module->source(x, positions, pos + 2), expected, 1e-6);
    expect_close(module->target(x, positions, pos + 2), expected, 1e-6);
  }
}

ModelConfig learned_positions() {
  ModelConfig config = small_config();
  config.positions = Positions::Learned;
  config.max_positions = 6;
  return config;
}

TEST(LearnedPositions, LearnedPositionsAreAddedToEachSide) {
  auto model = initialized(learned_positions());
  const auto positions = torch::tensor({5, 0, 2}, torch::kInt64).to(test_device());
  const auto x = closed_form({3, 16});
  const auto parameters = model->named_parameters();
  const auto row = [&](const std::string& side) {
    return parameters["positions." + side + ".weight"].index({positions});
  };
  expect_close(model->positional_encoding->source(x, positions, 6), x + row("source"), 1e-6);
  expect_close(model->positional_encoding->target(x, positions, 6), x + row("target"), 1e-6);
}

TEST(LearnedPositions, ALongerSentenceIsRefusedWithItsLength) {
  auto model = initialized(learned_positions());
  EXPECT_NO_THROW(hidden_states(model, pairs_of({{6, 6}}), RowKeys::None));
  for (const auto& lengths : {std::pair<std::int64_t, std::int64_t>{7, 6}, {6, 7}})
    EXPECT_THAT(
        [&] {
          hidden_states(model, pairs_of({{3, 3}, lengths}), RowKeys::None);
        },
        testing::ThrowsMessage<Error>(Names("7 pieces ... 6 positions ... --max-positions")));
}

}  // namespace
}  // namespace dragoman
