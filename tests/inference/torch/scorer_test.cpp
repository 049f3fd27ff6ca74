#include "inference/torch/scorer.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/machine.h"
#include "base/random.h"
#include "tests/model/most_threads.h"

namespace dragoman {
namespace {

constexpr TokenId kEos = 2;

ModelConfig small_config() {
  ModelConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.d_ff = 32;
  config.encoder_layers = config.decoder_layers = 2;
  config.source_vocabulary = config.target_vocabulary = 20;
  return config;
}

Transformer small_model(const ModelConfig& config = small_config()) {
  Transformer model(config);
  model->initialize(5);
  return model;
}

std::vector<TokenId> sentence(RandomStream& random, std::size_t length) {
  std::vector<TokenId> tokens(length);
  for (TokenId& token : tokens) token = static_cast<TokenId>(3 + random.below(17));
  tokens.push_back(kEos);
  return tokens;
}

std::vector<SentencePair> some_pairs(std::size_t count) {
  RandomStream random(11);
  std::vector<SentencePair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    auto source = sentence(random, random.below(9));  // with empty sentences among them
    pairs.push_back({std::move(source), sentence(random, random.below(9))});
  }
  return pairs;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
}

TEST(Scorer, APairScoresTheSameAloneAndInAnyBatch) {
  auto model = small_model();
  const auto pairs = some_pairs(40);
  const auto together = token_log_probabilities(model, pairs, 1'000);
  const auto small_batches = token_log_probabilities(model, pairs, 12);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(together[i].size(), pairs[i].target.size());
    expect_near(together[i], token_log_probabilities(model, std::span(&pairs[i], 1), 1)[0]);
    expect_near(together[i], small_batches[i]);
  }
}

TEST(Scorer, TheProbabilitiesOfAllNextTokensSumToOne) {
  auto model = small_model();
  RandomStream random(3);
  const auto source = sentence(random, 6);
  std::vector<SentencePair> pairs;
  for (TokenId next = 0; next < 20; ++next) pairs.push_back({source, {7, 9, next}});
  double sum = 0;
  for (const auto& scores : token_log_probabilities(model, pairs, 100)) sum += std::exp(scores[2]);
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(Scorer, LaterTargetTokensChangeNoEarlierScore) {
  auto model = small_model();
  RandomStream random(4);
  const auto source = sentence(random, 6);
  const std::vector<SentencePair> pairs = {{source, {5, 6, kEos}}, {source, {5, 6, 9, 8, kEos}}};
  const auto scores = token_log_probabilities(model, pairs, 100);
  EXPECT_NEAR(scores[0][0], scores[1][0], 1e-6);
  EXPECT_NEAR(scores[0][1], scores[1][1], 1e-6);
  EXPECT_NE(scores[0][2], scores[1][2]);
}

TEST(Scorer, MoreTokensThanAreProjectedAtATimeScoreAsFewerDo) {
  auto model = small_model();
  RandomStream random(5);
  const std::vector<SentencePair> pairs = {{sentence(random, 3), sentence(random, 300)},
                                           {sentence(random, 3), sentence(random, 700)}};
  const auto together = token_log_probabilities(model, pairs, 2'000);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    expect_near(together[i], token_log_probabilities(model, std::span(&pairs[i], 1), 1)[0]);
}

TEST(Scorer, AStopLeavesTheRestEmpty) {
  auto model = small_model();
  std::stop_source stop;
  stop.request_stop();
  for (const auto& scores : token_log_probabilities(model, some_pairs(3), 100, stop.get_token()))
    EXPECT_TRUE(scores.empty());
}

TEST(Scorer, SentencesBeyondLearnedPositionsAreRefused) {
  ModelConfig config = small_config();
  config.positions = Positions::Learned;
  config.max_positions = 4;
  auto model = small_model(config);
  const std::vector<SentencePair> fits = {{{3, 4, 5, kEos}, {kEos}}};
  const std::vector<SentencePair> too_long = {{{kEos}, {3, 4, 5, 6, kEos}}};
  EXPECT_NO_THROW(token_log_probabilities(model, fits, 100));
  EXPECT_THROW(token_log_probabilities(model, too_long, 100), Error);
}

TEST(Scorer, ThreadsSharePairsAndNoOperation) {
  Transformer model = small_model();
  const auto pairs = some_pairs(40);
  at::set_num_threads(1);
  const auto alone = token_log_probabilities(model, pairs, 60);
  at::set_num_threads(3);
  const MostThreads of_operation;
  const auto shared = token_log_probabilities(model, pairs, 60);
  EXPECT_EQ(of_operation.count(), 1);
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(1);
  for (std::size_t i = 0; i < pairs.size(); ++i) expect_near(shared[i], alone[i]);
}

// The attention of such pairs takes the padded path, whose memory is asked for first.
TEST(Scorer, LongPairsAreScoredBesideOthers) {
  Transformer model = small_model();
  RandomStream random(3);
  auto pairs = some_pairs(10);
  pairs.push_back({sentence(random, 600), sentence(random, 4)});
  pairs.push_back({sentence(random, 4), sentence(random, 520)});
  at::set_num_threads(2);
  const auto together = token_log_probabilities(model, pairs, 2'000);
  at::set_num_threads(1);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    expect_near(together[i], token_log_probabilities(model, std::span(&pairs[i], 1), 1)[0]);
  const auto length =
      static_cast<std::size_t>(std::sqrt(static_cast<double>(available_memory()) / 10));
  const std::vector<SentencePair> too_long = {{sentence(random, length), sentence(random, 3)}};
  EXPECT_THAT(
      [&] { token_log_probabilities(model, too_long, 2'000); },
      testing::ThrowsMessage<Error>(testing::StartsWith("not enough memory to score a pair of ")));
}

}  // namespace
}  // namespace dragoman
