#include "inference/scheduler.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/inference/lone_worker.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

constexpr std::int64_t kVocabulary = 7;

using Results = std::map<std::int64_t, std::vector<std::pair<std::vector<TokenId>, double>>>;

Results run(TableEngine& engine, const DecodeConfig& config,
            const std::vector<SourceSentence>& sentences, std::size_t added_at_once = 1000) {
  Results results;
  LoneWorker worker(engine, config, {kEos});
  for (const SourceSentence& sentence : worker.finish(sentences, added_at_once)) {
    EXPECT_FALSE(results.contains(sentence.line));
    for (const Hypothesis& hypothesis : sentence.hypotheses)
      results[sentence.line].emplace_back(hypothesis.tokens, hypothesis.score);
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

TEST(Scheduler, RowsOfSentencesWithPhrasesStayWithinTheBatchSizeToo) {
  std::vector<SourceSentence> sentences = random_sentences(30, kVocabulary);
  for (std::size_t i = 0; i < sentences.size(); i += 2) {
    sentences[i].needs_attention = true;
    sentences[i].required.phrases =
        RequiredPhrases({{.spellings = {{{5, 6}}}}, {.spellings = {{{3}}}}});
  }
  TableEngine engine = make_engine();
  const DecodeConfig config{.beam_size = 2, .max_length = 30, .batch_size = 16};
  EXPECT_EQ(run(engine, config, sentences).size(), 30u);
  EXPECT_LE(engine.most_rows, 16);
  EXPECT_GE(engine.most_rows, 12);
}

TEST(Scheduler, SentencesWithSearchesOfTheirOwnChangeNoOther) {
  const DecodeConfig config{.beam_size = 2, .max_length = 20, .batch_size = 16};
  std::vector<SourceSentence> sentences = random_sentences(40, kVocabulary);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    DecodeConfig own = config;
    own.beam_size = static_cast<std::int64_t>(1 + i % 3 * 4);  // 9 is above the vocabulary
    own.n_best = 1;
    own.length_penalty = 0.2 * static_cast<double>(i % 6);
    own.min_length = static_cast<std::int64_t>(i % 7);
    own.max_length = static_cast<std::int64_t>(8 + i % 9);
    own.sampling = i % 8 == 5;
    own.repetition_penalty = i % 3 == 0 ? 1.3 : 1;
    TargetTokens tokens{.eos = kEos};
    if (i % 6 == 1) tokens.suppressed = {4};
    if (i % 6 == 2) tokens.avoided = {{3, 5}};
    sentences[i].needs_attention = i % 5 == 0;
    if (i % 4 != 0)
      sentences[i].settings =
          std::make_shared<const SearchSettings>(SearchSettings{own, std::move(tokens)});
  }
  Results alone;
  for (const SourceSentence& sentence : sentences) {
    TableEngine engine = make_engine();
    alone.merge(run(engine, config, {sentence}));
  }
  TableEngine engine = make_engine();
  EXPECT_EQ(run(engine, config, sentences, 7), alone);
  EXPECT_LE(engine.most_rows, 16);
}

TEST(Scheduler, AttentionOfOtherHeadsWaitsUntilTheStepsTellIt) {
  class TwoHeads : public TableEngine {
   public:
    using TableEngine::TableEngine;
    void step(const StepRequest& step) override {
      if (step.attention != nullptr) told.push_back(step.heads.head);
      TableEngine::step(step);
    }
    std::vector<std::int64_t> told;
  } engine(kVocabulary, random_distribution(kVocabulary, 17, 4, 0.5));
  std::vector<SourceSentence> sentences = random_sentences(12, kVocabulary);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const DecodeConfig own{.beam_size = 2, .attention_head = i % 2 == 0 ? 1 : 2};
    sentences[i].settings = std::make_shared<const SearchSettings>(SearchSettings{own, {kEos}});
    sentences[i].needs_attention = true;
  }
  EXPECT_EQ(run(engine, {.beam_size = 2}, sentences).size(), 12u);
  EXPECT_EQ(std::set(engine.told.begin(), engine.told.end()), (std::set<std::int64_t>{1, 2}));
}

TEST(Scheduler, RowsOfSentencesThatAreGivenUpAreFreeAtTheNextStep) {
  TableEngine engine(kVocabulary,
                     random_distribution(kVocabulary, 1, 3, -60));  // takes long to end
  std::stop_source stop;
  std::vector<SourceSentence> sentences = random_sentences(4, kVocabulary);
  for (std::size_t i = 0; i < 2; ++i) sentences[i].stop = stop.get_token();
  LoneWorker worker(engine, {.beam_size = 2, .max_length = 30, .batch_size = 8}, {kEos});
  worker.add(sentences);
  worker.step();
  EXPECT_EQ(engine.slots_in_use(), 4u);
  stop.request_stop();
  worker.add(random_sentences(2, kVocabulary));
  worker.step();
  EXPECT_EQ(engine.slots_in_use(), 4u) << "the new ones have taken their places";
  EXPECT_EQ(engine.admitted, 6);
  std::size_t finished = 0;
  while (!worker.idle()) finished += worker.step().size();
  EXPECT_EQ(finished, 4u);
}

TEST(Scheduler, TheLongestSentencesAreAdmittedFirstButNeverBeforeEarlierOnes) {
  std::vector<std::int64_t> order;
  TableEngine engine(kVocabulary, random_distribution(kVocabulary, 1, 3, 60));  // ends at once
  const DecodeConfig config{.beam_size = 1, .batch_size = 1};
  LoneWorker worker(engine, config, {kEos});
  const auto sentence = [](std::int64_t line, std::size_t length) {
    return SourceSentence{.line = line, .part = 0, .tokens = std::vector<TokenId>(length, kEos)};
  };
  worker.add({sentence(0, 2), sentence(1, 5), sentence(2, 3)});
  worker.add({sentence(3, 9)});
  while (!worker.idle())
    for (const SourceSentence& finished : worker.step()) order.push_back(finished.line);
  EXPECT_EQ(order, (std::vector<std::int64_t>{1, 2, 0, 3}));
}

TEST(Scheduler, TheEndOfASourceDoesNotLengthenItsTranslation) {
  TableEngine engine(kVocabulary, random_distribution(kVocabulary, 1, 3, -60));  // never ends
  const DecodeConfig config{.beam_size = 1, .max_length_ratio = 1};
  LoneWorker worker(engine, config, {kEos});
  constexpr std::size_t kPieces = 60;  // above the length that every translation may have
  std::vector<TokenId> pieces(kPieces, 4), ended = pieces;
  ended.push_back(kEos);
  worker.add({{.line = 0, .part = 0, .tokens = pieces, .has_end = false},
              {.line = 1, .part = 0, .tokens = ended}});
  std::size_t finished = 0;
  while (!worker.idle())
    for (const SourceSentence& sentence : worker.step()) {
      EXPECT_EQ(sentence.hypotheses.front().length, static_cast<std::int64_t>(kPieces));
      EXPECT_TRUE(sentence.hypotheses.front().cut);
      ++finished;
    }
  EXPECT_EQ(finished, 2u);
}

TEST(Scheduler, SlotsAreReleasedWhenTheWorkIsGivenUp) {
  TableEngine engine = make_engine();
  {
    const DecodeConfig config;
    LoneWorker worker(engine, config, {kEos});
    worker.add(random_sentences(10, kVocabulary));
    worker.step();
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
