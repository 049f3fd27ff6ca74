#include "inference/ensemble.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

constexpr std::int64_t kMany = 9;  // tokens

/// The mean of three tables' probabilities, as a table.
Distribution mean() {
  return [](const Tokens& source, const Tokens& prefix) {
    std::vector<double> logits(kMany);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto scores = random_distribution(kMany, seed)(source, prefix);
      for (std::size_t i = 0; i < logits.size(); ++i) logits[i] += std::exp(scores[i]) / 3;
    }
    for (double& logit : logits) logit = std::log(logit);
    return log_softmax(logits);
  };
}

Ensemble three() {
  std::vector<std::unique_ptr<HostEngine>> members;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    members.push_back(std::make_unique<TableEngine>(kMany, random_distribution(kMany, seed)));
  return Ensemble(std::move(members));
}

using Results = std::map<std::int64_t, std::pair<Tokens, double>>;

Results translate(HostEngine& engine, const DecodeConfig& config) {
  LoneWorker worker(engine, config, {kEos});
  std::vector<SourceSentence> list = random_sentences(60, kMany);
  for (std::size_t i = 0; i < list.size(); i += 3) list[i].required.prefix.tokens = {5, 6};
  worker.add(std::move(list));
  Results results;
  while (!worker.idle())
    for (const SourceSentence& sentence : worker.step())
      results[sentence.line] = {sentence.hypotheses.at(0).tokens, sentence.hypotheses.at(0).score};
  return results;
}

TEST(Ensemble, ProbabilitiesAreTheMeanOfTheMembers) {
  DecodeConfig config{.beam_size = 3, .max_length = 20, .batch_size = 24};
  for (const std::int64_t n : {0, 2}) {
    config.no_repeat_ngram_size = n;
    config.coverage_penalty = n == 0 ? 0 : 0.2;
    Ensemble ensemble = three();
    TableEngine expected(kMany, mean());
    const Results found = translate(ensemble, config), all = translate(expected, config);
    ASSERT_EQ(found.size(), all.size());
    for (const auto& [line, result] : all) {
      EXPECT_EQ(found.at(line).first, result.first);
      EXPECT_NEAR(found.at(line).second, result.second, 1e-5);
    }
  }
}

TEST(Ensemble, OneMemberTranslatesAsItDoesAlone) {
  std::vector<std::unique_ptr<HostEngine>> members;
  members.push_back(std::make_unique<TableEngine>(kMany, random_distribution(kMany, 8)));
  Ensemble one(std::move(members));
  TableEngine alone(kMany, random_distribution(kMany, 8));
  const DecodeConfig config{.beam_size = 2, .max_length = 20};
  const Results found = translate(one, config), expected = translate(alone, config);
  for (const auto& [line, result] : expected) EXPECT_EQ(found.at(line).first, result.first);
}

TEST(Ensemble, APrefixMayHaveATokenThatNoRowProduces) {
  const auto engine = [] {
    auto table = std::make_unique<TableEngine>(kMany, random_distribution(kMany, 8));
    table->never_emitted = {5};
    return table;
  };
  std::vector<std::unique_ptr<HostEngine>> members;
  for (int i = 0; i < 2; ++i) members.push_back(engine());
  Ensemble both(std::move(members));
  const auto alone = engine();
  const DecodeConfig config{.beam_size = 2, .max_length = 20};
  const Results found = translate(both, config), expected = translate(*alone, config);
  for (const auto& [line, result] : expected) {
    EXPECT_EQ(found.at(line).first, result.first);
    EXPECT_NEAR(found.at(line).second, result.second, 1e-5);
    if (line % 3 == 0) {
      EXPECT_EQ(Tokens(result.first.begin(), result.first.begin() + 2), (Tokens{5, 6}));
    }
  }
}

/// exp(-200) is too small for fp32.
TEST(Ensemble, ATinyProbabilityHasAFiniteLogarithm) {
  std::vector<std::unique_ptr<HostEngine>> members;
  for (const float improbable : {-200.0F, -201.0F})
    members.push_back(std::make_unique<TableEngine>(kMany, [=](const Tokens&, const Tokens&) {
      std::vector<float> scores(kMany, improbable);
      scores[4] = 0;
      scores[5] = -kExclude;
      return scores;
    }));
  Ensemble both(std::move(members));
  const auto slots = both.admit(std::vector<Tokens>{{3, kEos}});
  const std::vector<RowOrigin> rows = {{-1, slots[0]}};
  std::vector<Candidate> found(kMany);
  std::vector<float> reported(1);
  const std::vector<RowToken> of_row = {{0, 7}};
  both.step({.rows = rows,
             .previous = Tokens{kEos},
             .candidates_per_row = kMany,
             .candidates = found,
             .reported = of_row,
             .reported_log_probabilities = reported});
  const double mean = -200 + std::log((1 + std::exp(-1.0)) / 2);
  EXPECT_NEAR(found[7].log_probability, mean, 1e-4);
  EXPECT_NEAR(reported[0], mean, 1e-4);
  EXPECT_EQ(found[4].log_probability, 0);
  EXPECT_EQ(found[5].log_probability, -kExclude);
}

}  // namespace
}  // namespace dragoman
