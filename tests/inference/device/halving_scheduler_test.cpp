// A search that begins again in fewer rows, on a device that has too little memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "inference/device/device_scheduler.h"
#include "tests/inference/lone_worker.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kVocabulary = 9;

/// An engine on a device that has memory for `rows` rows, and for `sentences` new sentences.
class SmallDevice : public TableEngine {
 public:
  SmallDevice(std::int64_t rows, std::int64_t sentences)
      : TableEngine(kVocabulary, random_distribution(kVocabulary, 3)),
        rows_(rows),
        sentences_(sentences) {}

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override {
    auto slots = TableEngine::admit(sentences);  // the slots that it takes before it fails are lost
    if (std::ssize(sentences) > sentences_) throw std::runtime_error("CUDA out of memory.");
    return slots;
  }
  void step(const StepRequest& step) override {
    if (std::ssize(step.rows) > rows_) throw std::runtime_error("CUDA out of memory.");
    TableEngine::step(step);
  }

  std::vector<std::int64_t> fewer;  // rows, as it was told

 private:
  std::int64_t rows_, sentences_;
};

using BestTokens = std::map<std::int64_t, std::vector<TokenId>>;

/// Translates 40 sentences, in two portions.
BestTokens translate(std::shared_ptr<SentenceScheduler> scheduler, const DecodeConfig& config) {
  LoneWorker worker(std::move(scheduler), config, {kEos});
  auto sentences = random_sentences(40, kVocabulary);
  worker.add({sentences.begin(), sentences.begin() + 25});
  BestTokens results;
  const auto take = [&] {
    for (const SourceSentence& sentence : worker.step())
      EXPECT_TRUE(results.emplace(sentence.line, sentence.hypotheses.at(0).tokens).second);
  };
  take();
  worker.add({sentences.begin() + 25, sentences.end()});
  while (!worker.idle()) take();
  return results;
}

BestTokens translate(SmallDevice& device, const DecodeConfig& config) {
  const auto make = [&device](std::int64_t rows) {
    device.forget_all();
    return std::make_shared<Scheduler>(device, rows);
  };
  const auto on_fewer_rows = [&device](std::int64_t rows) { device.fewer.push_back(rows); };
  return translate(std::make_shared<HalvingScheduler>(make, 48, on_fewer_rows), config);
}

TEST(HalvingScheduler, SentencesBeginAgainInFewerRowsWithTheSameTranslations) {
  for (const DecodeConfig& config : {DecodeConfig{.beam_size = 3, .max_length = 15},
                                     DecodeConfig{.max_length = 15, .sampling = true}}) {
    SmallDevice large(1000, 1000);
    const BestTokens expected = translate(large, config);
    EXPECT_EQ(expected.size(), 40u);
    EXPECT_THAT(large.fewer, ElementsAre());

    SmallDevice few_rows(12, 1000);
    EXPECT_EQ(translate(few_rows, config), expected);
    EXPECT_THAT(few_rows.fewer, ElementsAre(24, 12));
    EXPECT_EQ(few_rows.slots_in_use(), 0u);

    SmallDevice few_sentences(1000, 3);
    EXPECT_EQ(translate(few_sentences, config), expected);
    EXPECT_GT(few_sentences.fewer.size(), 1u);
    EXPECT_EQ(few_sentences.slots_in_use(), 0u);
  }
}

TEST(HalvingScheduler, ADeviceWithoutMemoryForOneSentenceIsAnError) {
  SmallDevice none(0, 1000);
  EXPECT_THROW(translate(none, {.max_length = 15}), std::runtime_error);
  EXPECT_THAT(none.fewer, ElementsAre(24, 12, 6, 3, 1));
}

}  // namespace
}  // namespace dragoman
