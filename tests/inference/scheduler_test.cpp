#include "inference/scheduler.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/inference/table_engine.h"

namespace dragoman {
namespace {

constexpr std::int64_t kVocabulary = 7;

using Results = std::map<std::int64_t, std::vector<std::pair<std::vector<TokenId>, double>>>;

Results run(TableEngine& engine, const DecodeConfig& config, std::vector<SourceSentence> sentences,
            std::size_t added_at_once = 1000) {
  Results results;
  Scheduler scheduler(engine, config, {kEos});
  std::size_t next = 0;
  while (next < sentences.size() || !scheduler.idle()) {
    const std::size_t end = std::min(next + added_at_once, sentences.size());
    scheduler.add({sentences.begin() + static_cast<std::ptrdiff_t>(next),
                   sentences.begin() + static_cast<std::ptrdiff_t>(end)});
    next = end;
    for (const FinishedSentence& sentence : scheduler.step()) {
      EXPECT_FALSE(results.contains(sentence.line));
      for (const Hypothesis& hypothesis : sentence.hypotheses)
        results[sentence.line].emplace_back(hypothesis.tokens, hypothesis.score);
    }
  }
  return results;
}

TableEngine make_engine() { return {kVocabulary, random_distribution(kVocabulary, 17, 4, 0.5)}; }

TEST(Scheduler, ResultsAreTheSameForAnyBatchSizeAndOrder) {
  for (DecodeConfig config :
       {DecodeConfig{.beam_size = 1}, DecodeConfig{.beam_size = 4, .n_best = 3},
        DecodeConfig{.beam_size = 3, .stop = Stop::Exact, .min_length = 2, .max_length = 12},
        DecodeConfig{.n_best = 2, .sampling = true},
        DecodeConfig{.sampling = true, .sampling_topk = 3, .sampling_topp = 0.9}}) {
    config.max_length = 20;
    std::vector<SourceSentence> sentences = random_sentences(40, kVocabulary);
    Results expected;
    for (const SourceSentence& sentence : sentences) {
      TableEngine engine = make_engine();
      expected.merge(run(engine, config, {sentence}));
    }
    ASSERT_EQ(expected.size(), 40u);
    for (const std::int64_t rows : {1, 7, 64, 1000}) {
      config.batch_size = rows;
      for (const std::size_t added_at_once : {1, 6, 1000}) {
        TableEngine engine = make_engine();
        EXPECT_EQ(run(engine, config, sentences, added_at_once), expected);
        EXPECT_EQ(engine.slots_in_use(), 0u);
      }
      RandomStream(5, rows).shuffle(sentences);
    }
  }
}

TEST(Scheduler, RowsStayWithinTheBatchSizeAndAreFilledAgain) {
  DecodeConfig config{.beam_size = 2, .max_length = 30, .batch_size = 16};
  TableEngine engine = make_engine();
  run(engine, config, random_sentences(64, kVocabulary));
  EXPECT_EQ(engine.most_rows, 16);
  // Without refilling, 8 groups of 8 sentences would each take as long as their longest.
  config.batch_size = 2;
  TableEngine one_by_one = make_engine();
  run(one_by_one, config, random_sentences(64, kVocabulary));
  EXPECT_LT(engine.steps, one_by_one.steps / 8 + 40);
}

TEST(Scheduler, SentencesWithSearchesOfTheirOwnChangeNoOther) {
  const DecodeConfig config{.beam_size = 2, .max_length = 20, .batch_size = 16};
  std::vector<SourceSentence> sentences = random_sentences(40, kVocabulary);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    DecodeConfig own = config;
    own.beam_size = static_cast<std::int64_t>(1 + i % 3 * 4);  // 9 is above the vocabulary
    own.n_best = 1;
    own.reports_attention = i % 5 == 0;
    if (i % 4 != 0) sentences[i].search = std::make_shared<const DecodeConfig>(own);
  }
  Results alone;
  for (const SourceSentence& sentence : sentences) {
    TableEngine engine = make_engine();
    const DecodeConfig its = sentence.search ? *sentence.search : config;
    alone.merge(run(engine, its, {sentence}));
  }
  TableEngine engine = make_engine();
  EXPECT_EQ(run(engine, config, sentences, 7), alone);
  EXPECT_LE(engine.most_rows, 16);
}

TEST(Scheduler, LongestAreAdmittedFirstButNeverBeforeEarlierOnes) {
  std::vector<std::int64_t> order;
  TableEngine engine(kVocabulary, random_distribution(kVocabulary, 1, 3, 60));  // ends at once
  const DecodeConfig config{.beam_size = 1, .batch_size = 1};
  Scheduler scheduler(engine, config, {kEos});
  const auto sentence = [](std::int64_t line, std::size_t length) {
    return SourceSentence{.line = line, .part = 0, .tokens = std::vector<TokenId>(length, kEos)};
  };
  scheduler.add({sentence(0, 2), sentence(1, 5), sentence(2, 3)});
  scheduler.add({sentence(3, 9)});
  while (!scheduler.idle())
    for (const FinishedSentence& finished : scheduler.step()) order.push_back(finished.line);
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 0, 3}));
}

TEST(Scheduler, SlotsAreReleasedWhenTheWorkIsGivenUp) {
  TableEngine engine = make_engine();
  {
    const DecodeConfig config;
    Scheduler scheduler(engine, config, {kEos});
    scheduler.add(random_sentences(10, kVocabulary));
    scheduler.step();
    EXPECT_GT(engine.slots_in_use(), 0u);
  }
  EXPECT_EQ(engine.slots_in_use(), 0u);
}

TEST(Scheduler, TheModelsLongestOutputIsTheMaximumLength) {
  TableEngine engine(kVocabulary, random_distribution(kVocabulary, 1, 3, -60));
  engine.positions = 12;
  for (const auto& [line, hypotheses] : run(engine, {}, random_sentences(3, kVocabulary)))
    EXPECT_EQ(hypotheses.at(0).first.size(), 12u);
}

}  // namespace
}  // namespace dragoman
