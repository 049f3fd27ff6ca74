#include "inference/workers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "base/error.h"
#include "tests/inference/table_engine.h"

namespace dragoman {
namespace {

constexpr std::int64_t kVocabulary = 12;

using Results = std::map<std::int64_t, std::vector<TokenId>>;

Results translate(std::size_t workers, std::vector<SourceSentence> list) {
  std::vector<std::unique_ptr<TableEngine>> engines;
  std::vector<Engine*> pointers;
  for (std::size_t i = 0; i < workers; ++i) {
    engines.push_back(
        std::make_unique<TableEngine>(kVocabulary, random_distribution(kVocabulary, 1)));
    pointers.push_back(engines.back().get());
  }
  const DecodeConfig config{.beam_size = 3, .max_length = 20};
  Workers team(pointers, config, {kEos});
  Results results;
  // In two portions, the second while the first is under way.
  const auto half = static_cast<std::ptrdiff_t>(list.size() / 2);
  team.add({list.begin(), list.begin() + half});
  for (bool more = true; more || !team.idle();) {
    for (const FinishedSentence& sentence : team.step())
      EXPECT_TRUE(results.emplace(sentence.line, sentence.hypotheses.at(0).tokens).second);
    if (more) team.add({list.begin() + half, list.end()});
    more = false;
  }
  EXPECT_EQ(team.waiting(), 0);
  return results;
}

TEST(Workers, AnyNumberOfThemTranslatesTheSame) {
  const auto list = random_sentences(200, kVocabulary);
  const Results alone = translate(1, list);
  EXPECT_EQ(alone.size(), list.size());
  for (const std::size_t workers : {2, 3, 8}) EXPECT_EQ(translate(workers, list), alone);
}

/// Fails after some steps.
class FailingEngine : public TableEngine {
 public:
  using TableEngine::TableEngine;
  void step(const Step& step) override {
    if (++steps_ == 5) throw Error("out of something");
    TableEngine::step(step);
  }

 private:
  int steps_ = 0;
};

TEST(Workers, WhatOneThrowsReachesTheCaller) {
  TableEngine sound(kVocabulary, random_distribution(kVocabulary, 1));
  FailingEngine failing(kVocabulary, random_distribution(kVocabulary, 1));
  const std::vector<Engine*> engines = {&sound, &failing};
  const DecodeConfig config{.max_length = 20};
  Workers team(engines, config, {kEos});
  team.add(random_sentences(100, kVocabulary));
  EXPECT_THROW(
      {
        while (!team.idle()) team.step();
      },
      Error);
}

TEST(Workers, EndInTheMiddleOfTheWork) {
  TableEngine one(kVocabulary, random_distribution(kVocabulary, 1)),
      two(kVocabulary, random_distribution(kVocabulary, 1));
  const std::vector<Engine*> engines = {&one, &two};
  const DecodeConfig config{.max_length = 40};
  const auto start = std::chrono::steady_clock::now();
  {
    Workers team(engines, config, {kEos});
    team.add(random_sentences(5000, kVocabulary));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace dragoman
