#include "inference/halving_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "inference/ensemble.h"
#include "tests/inference/lone_worker.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kVocabulary = 9;

/// An engine on a device that has memory for so many rows, and for so many new sentences.
class SmallDevice : public TableEngine, public ResettableEngine {
 public:
  SmallDevice(std::int64_t rows, std::int64_t sentences)
      : TableEngine(kVocabulary, random_distribution(kVocabulary, 3)),
        rows_(rows),
        sentences_(sentences) {}

  void reset() override {
    ++resets;
    forget_all();
  }
  void tell_fewer_rows(std::int64_t rows) override { fewer.push_back(rows); }
  std::int64_t preferred_rows() const override { return 48; }

  std::vector<std::int32_t> admit(std::span<const std::vector<TokenId>> sentences) override {
    auto slots = TableEngine::admit(sentences);  // what it has taken before it fails is lost
    if (std::ssize(sentences) > sentences_) throw std::runtime_error("CUDA out of memory.");
    return slots;
  }
  void step(const StepRequest& step) override {
    if (std::ssize(step.rows) > rows_) throw std::runtime_error("CUDA out of memory.");
    TableEngine::step(step);
  }

  int resets = 0;
  std::vector<std::int64_t> fewer;  // rows, as it was told

 private:
  std::int64_t rows_, sentences_;
};

using Results = std::map<std::int64_t, std::vector<TokenId>>;

/// Translates 40 sentences, in two portions.
Results translate(std::shared_ptr<SentenceScheduler> scheduler, const DecodeConfig& config) {
  LoneWorker worker(std::move(scheduler), config, {kEos});
  auto sentences = random_sentences(40, kVocabulary);
  worker.add({sentences.begin(), sentences.begin() + 25});
  Results results;
  const auto take = [&] {
    for (const FinishedSentence& sentence : worker.step())
      EXPECT_TRUE(results.emplace(sentence.line, sentence.hypotheses.at(0).tokens).second);
  };
  take();
  worker.add({sentences.begin() + 25, sentences.end()});
  while (!worker.idle()) take();
  return results;
}

Results translate(SmallDevice& device, const DecodeConfig& config) {
  const auto make = [&device](std::int64_t rows) {
    return std::make_shared<Scheduler>(device, rows);
  };
  return translate(std::make_shared<HalvingScheduler>(std::vector<ResettableEngine*>{&device}, make,
                                                      device.preferred_rows()),
                   config);
}

TEST(HalvingScheduler, SentencesBeginAgainInFewerRowsWithTheSameTranslations) {
  for (const DecodeConfig& config : {DecodeConfig{.beam_size = 3, .max_length = 15},
                                     DecodeConfig{.max_length = 15, .sampling = true}}) {
    SmallDevice large(1000, 1000);
    const Results expected = translate(large, config);
    EXPECT_EQ(expected.size(), 40u);
    EXPECT_THAT(large.fewer, ElementsAre());

    SmallDevice few_rows(12, 1000);
    EXPECT_EQ(translate(few_rows, config), expected);
    EXPECT_THAT(few_rows.fewer, ElementsAre(24, 12));
    EXPECT_EQ(few_rows.slots_in_use(), 0u);

    SmallDevice few_sentences(1000, 3);
    EXPECT_EQ(translate(few_sentences, config), expected);
    EXPECT_GT(few_sentences.resets, 1);
    EXPECT_EQ(few_sentences.slots_in_use(), 0u);
  }
}

TEST(HalvingScheduler, AnEnsembleBeginsAgainWithAllItsMembers) {
  const DecodeConfig config{.beam_size = 3, .max_length = 15};
  std::vector<SmallDevice*> devices;
  const auto ensemble_of = [&devices](std::int64_t rows) {
    std::vector<std::unique_ptr<Engine>> members;
    for (const std::int64_t of_member : {std::int64_t{1000}, rows}) {
      auto device = std::make_unique<SmallDevice>(of_member, 1000);
      devices.push_back(device.get());
      members.push_back(std::move(device));
    }
    return std::make_unique<Ensemble>(std::move(members));
  };
  const auto large = ensemble_of(1000), small = ensemble_of(12);
  const Results expected = translate(large->own_scheduler(0), config);
  EXPECT_EQ(translate(small->own_scheduler(0), config), expected);
  EXPECT_THAT(devices[2]->fewer, ElementsAre(24, 12));
  EXPECT_EQ(devices[2]->resets, 2);
  EXPECT_EQ(devices[3]->resets, 2);
}

TEST(HalvingScheduler, AnEnsembleOfOtherEnginesHasNoSchedulerOfItsOwn) {
  std::vector<std::unique_ptr<Engine>> members;
  members.push_back(std::make_unique<SmallDevice>(1000, 1000));
  members.push_back(
      std::make_unique<TableEngine>(kVocabulary, random_distribution(kVocabulary, 3)));
  EXPECT_EQ(Ensemble(std::move(members)).own_scheduler(0), nullptr);
}

TEST(HalvingScheduler, ADeviceWithoutMemoryForOneSentenceIsAnError) {
  SmallDevice none(0, 1000);
  EXPECT_THROW(translate(none, {.max_length = 15}), std::runtime_error);
  EXPECT_THAT(none.fewer, ElementsAre(24, 12, 6, 3, 1));
}

}  // namespace
}  // namespace dragoman
