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
  std::vector<std::unique_ptr<Engine>> members;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    members.push_back(std::make_unique<TableEngine>(kMany, random_distribution(kMany, seed)));
  return Ensemble(std::move(members));
}

using Results = std::map<std::int64_t, std::pair<Tokens, double>>;

Results translate(Engine& engine, const DecodeConfig& config) {
  Scheduler scheduler(engine, config, {kEos});
  std::vector<SourceSentence> list = random_sentences(60, kMany);
  for (std::size_t i = 0; i < list.size(); i += 3) list[i].required.prefix = {5, 6};
  scheduler.add(std::move(list));
  Results results;
  while (!scheduler.idle())
    for (const FinishedSentence& sentence : scheduler.step())
      results[sentence.line] = {sentence.hypotheses.at(0).tokens, sentence.hypotheses.at(0).score};
  return results;
}

TEST(Ensemble, TranslatesAsTheMeanOfTheProbabilities) {
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

TEST(Ensemble, OfOneIsThatOne) {
  std::vector<std::unique_ptr<Engine>> members;
  members.push_back(std::make_unique<TableEngine>(kMany, random_distribution(kMany, 8)));
  Ensemble one(std::move(members));
  TableEngine alone(kMany, random_distribution(kMany, 8));
  const DecodeConfig config{.beam_size = 2, .max_length = 20};
  const Results found = translate(one, config), expected = translate(alone, config);
  for (const auto& [line, result] : expected) EXPECT_EQ(found.at(line).first, result.first);
}

}  // namespace
}  // namespace dragoman
