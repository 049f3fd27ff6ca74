#include "inference/device/recorded_steps.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "inference/search/search.h"
#include "inference/torch/torch_device_model.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/inference/random_rows.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

class RecordedStepsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!RecordedSteps::is_available(test_device())) GTEST_SKIP() << "no graphs here";
  }
};

using Prepare = std::function<void(SourceSentence&)>;

/// The sentences of the second wave come when the others are under way. Their sources are longer
/// than there is room for so far.
std::vector<SourceSentence> translated(const std::vector<Transformer>& models,
                                       const DecodeConfig& config, StepLaunch launch,
                                       const Prepare& prepare) {
  auto waves = std::vector{waiting_sentences(5, 14), waiting_sentences(2, 14)};
  for (SourceSentence& sentence : waves[1]) {
    sentence.line += 100;
    sentence.tokens.insert(sentence.tokens.begin(), 38 - sentence.tokens.size(), 5);
  }
  for (auto& wave : waves)
    for (SourceSentence& sentence : wave) prepare(sentence);
  const auto engine = device_engine(models, {0, 7}, {}, launch);
  std::vector<TokenEdges> edges(kVocabulary);
  edges[9].lengthens_word = true;
  // Fewer groups than sentences, so that groups are filled again.
  const std::int64_t rows = std::max<std::int64_t>(4, 2 * SentenceSearch::width(config));
  LoneWorker worker(engine->own_scheduler(rows), config, {.eos = kEos, .edges = edges});
  std::vector<SourceSentence> finished;
  for (const auto& wave : waves) {
    worker.add(wave);
    std::ranges::move(worker.step(), std::back_inserter(finished));
  }
  while (!worker.idle()) std::ranges::move(worker.step(), std::back_inserter(finished));
  std::ranges::sort(finished, {}, &SourceSentence::line);
  return finished;
}

void expect_same_by_graphs(
    const std::vector<Transformer>& models, const DecodeConfig& config,
    const Prepare& prepare = [](SourceSentence&) {}) {
  const StandInCounts counts;
  const auto host_launches = [&counts] {
    return StandInCounts::is_loaded() ? counts.host_launches() : 0;
  };
  const auto expected = translated(models, config, StepLaunch::Operations, prepare);
  const std::int64_t one_by_one = host_launches();
  const auto found = translated(models, config, StepLaunch::Graph, prepare);
  if (StandInCounts::is_loaded()) {
    EXPECT_LT(2 * (host_launches() - one_by_one), one_by_one);
  }
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].hypotheses.size(), expected[i].hypotheses.size());
    for (std::size_t h = 0; h < found[i].hypotheses.size(); ++h) {
      const Hypothesis &a = found[i].hypotheses[h], &b = expected[i].hypotheses[h];
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.log_probabilities, b.log_probabilities);
      EXPECT_EQ(a.score, b.score);
      EXPECT_EQ(a.attention, b.attention);
    }
  }
}

std::vector<Transformer> one_model(std::size_t config = 0) {
  return {make_model(configs()[config], test_device())};
}

TEST_F(RecordedStepsTest, TranslationsAreThoseOfStepsOneByOne) {
  for (const std::size_t model : {0, 1, 2})
    for (const DecodeConfig& config :
         {DecodeConfig{.beam_size = 1, .max_length = 60},
          DecodeConfig{.beam_size = 4, .n_best = 4, .min_length = 36, .max_length = 39}})
      expect_same_by_graphs(one_model(model), config);
}

TEST_F(RecordedStepsTest, TranslationsInHalfPrecisionAndOfAnEnsembleAreTheSame) {
  const DecodeConfig config{.beam_size = 3, .min_length = 33, .max_length = 50};
  for (const torch::ScalarType type : {torch::kBFloat16, torch::kFloat16}) {
    auto models = one_model();
    models.front()->to(type);
    expect_same_by_graphs(models, config);
  }
  expect_same_by_graphs({one_model(0).front(), one_model(2).front()}, config);
}

TEST_F(RecordedStepsTest, SamplesAreTheSame) {
  expect_same_by_graphs(one_model(), {.n_best = 2, .max_length = 50, .sampling = true, .seed = 5});
  expect_same_by_graphs(one_model(), {.max_length = 50, .sampling = true, .sampling_topp = 0.8});
}

TEST_F(RecordedStepsTest, TranslationsByRulesForTokensAndWithAttentionAreTheSame) {
  expect_same_by_graphs(one_model(), {.beam_size = 3,
                                      .coverage_penalty = 0.3,
                                      .repetition_penalty = 1.2,
                                      .no_repeat_ngram_size = 3,
                                      .stop = Stop::Exact,
                                      .min_length = 34,
                                      .max_length = 50});
}

TEST_F(RecordedStepsTest, TranslationsWithARequiredPrefixThatComesLateAreTheSame) {
  expect_same_by_graphs(one_model(), {.beam_size = 4, .max_length = 40},
                        [](SourceSentence& sentence) {
                          if (sentence.line < 100) return;
                          sentence.required.prefix = {.tokens = {3, 4, 5}, .ends_word = true};
                        });
}

TEST_F(RecordedStepsTest, TranslationsWithRequiredPhrasesAreTheSame) {
  expect_same_by_graphs(one_model(), {.beam_size = 2, .max_length = 40},
                        [](SourceSentence& sentence) {
                          std::vector<RequiredPhrase> phrases = {{.spellings = {{{3, 5}}}}};
                          if (sentence.line >= 100) phrases.push_back({.spellings = {{{9, 8, 4}}}});
                          sentence.required.phrases = RequiredPhrases(phrases);
                        });
}

/// A search for one sentence, in a group of its own.
class LoneSearch {
 public:
  LoneSearch()
      : model_(one_model().front()),
        search_(settings_, model_, {}, {.groups = 1, .rows_per_group = 4}) {
    model_.shape(1, 4);
    recorded_.emplace(model_, search_);
  }
  void begin(std::int64_t source_length) {
    const std::vector<std::int64_t> groups = {0};
    search_.release(groups);
    Tokens source(static_cast<std::size_t>(source_length - 1), 5);
    source.push_back(kEos);
    model_.admit(std::vector<Tokens>{source}, groups);
    const DeviceSentence begun{
        .group = 0, .max_length = 80, .key = 1, .source_length = source_length};
    search_.begin({&begun, 1}, model_.source_capacity());
  }
  void take() { recorded_->take(); }
  /// The steps, counted from 1, that were more than a launch by the host.
  std::vector<int> not_launched_of(int steps) {
    std::vector<int> numbers;
    for (int step = 1; step <= steps; ++step) {
      const StandInCounts counts;
      take();
      EXPECT_EQ(counts.waits(), nlohmann::json::object());
      if (counts.host_launches() != 1) numbers.push_back(step);
    }
    return numbers;
  }

 private:
  SearchSettings settings_{{.beam_size = 4, .min_length = 70, .max_length = 80}, {.eos = kEos}};
  TorchDeviceModel model_;
  DeviceSearch search_;
  std::optional<RecordedSteps> recorded_;
};

TEST_F(RecordedStepsTest, AStepIsOneLaunchByTheHostIfNoTensorHasMovedSinceTheSecondOfItsColumns) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  LoneSearch search;
  search.begin(9);
  EXPECT_THAT(search.not_launched_of(66), ElementsAre(1, 2, 32, 33, 64, 65))
      << "room grows with the columns";
  search.begin(9);
  EXPECT_THAT(search.not_launched_of(66), ElementsAre(1, 2, 32, 33))
      << "graphs of fewer columns were dropped when the room grew";
  search.begin(9);
  EXPECT_THAT(search.not_launched_of(66), ElementsAre());
  search.begin(40);
  EXPECT_THAT(search.not_launched_of(34), ElementsAre(1, 2, 32, 33))
      << "a longer source moves its keys and values";
}

TEST_F(RecordedStepsTest, GraphsThatAreDroppedLeaveNoMemory) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "LibTorch keeps freed memory of a GPU";
  const auto engine = device_engine(one_model(), {}, {}, StepLaunch::Graph);
  const auto scheduler = engine->own_scheduler(0);
  const auto bytes_after = [&](std::size_t sentences) {
    LoneWorker worker(scheduler, {.beam_size = 2, .max_length = 20}, {kEos});
    worker.add(waiting_sentences(sentences, 9));
    while (!worker.idle()) worker.step();
    return c10::getDeviceAllocator(c10::kCUDA)->getDeviceStats(0).reserved_bytes[0].current;
  };
  const std::int64_t bytes = bytes_after(1);
  bytes_after(8);
  EXPECT_EQ(bytes_after(1), bytes) << "each of them a search with graphs of its own";
}

}  // namespace
}  // namespace dragoman
