#include "training/settings/automatic_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/names.h"

namespace dragoman {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr TextSize kCaptions{.pairs = 29'000, .target_characters = 2'100'000};

double number_of(const FieldTexts& settings, const std::string& name) {
  return parse_number(name, settings.at(name));
}

TEST(AutomaticSettings, ALargerTextGetsALargerModelAndVocabulary) {
  Preset last_preset = Preset::Tiny;
  std::int64_t last_vocabulary = 0;
  for (std::int64_t characters = 10'000; characters < 2'000'000'000; characters *= 2) {
    const TextSize text{.pairs = characters / 70, .target_characters = characters};
    EXPECT_GE(preset_for(text), last_preset);
    EXPECT_GE(vocabulary_for(text), last_vocabulary);
    last_preset = preset_for(text);
    last_vocabulary = vocabulary_for(text);
  }
  EXPECT_EQ(last_preset, Preset::Base);
  EXPECT_EQ(last_vocabulary, 32'000);
  EXPECT_EQ(vocabulary_for(kCaptions), 8000);
}

/// The time of each preset's run if tiny learns from `tiny` target pieces a second.
SecondsOf seconds_with(const TextSize& text, double tiny) {
  return [text, tiny](Preset preset) {
    constexpr std::array<double, 4> kFractions = {1, 0.37, 0.05, 0.015};
    const auto tokens = static_cast<double>(target_tokens_to_see(estimated_size(text), preset));
    return tokens / (tiny * kFractions[static_cast<std::size_t>(preset)]);
  };
}

constexpr TextSize kMixture{.pairs = 100'000, .target_characters = 7'000'000};

TEST(AutomaticSettings, ASlowMachineTakesASmallerModelOfTheSameTextAndSaysWhy) {
  const ChosenPreset fast = preset_for(kMixture, seconds_with(kMixture, 30'000));
  EXPECT_EQ(fast.preset, Preset::Small);
  EXPECT_EQ(fast.reason, "100,000 pairs");
  const ChosenPreset slow = preset_for(kMixture, seconds_with(kMixture, 5'000));
  EXPECT_EQ(slow.preset, Preset::Tiny);
  EXPECT_THAT(slow.reason, StartsWith("100,000 pairs; small would take 5:0"));
  EXPECT_THAT(slow.reason, EndsWith(", and reach about 1 BLEU more"));
}

TEST(AutomaticSettings, TheSpeedOfTheMachineDecidesBetweenTinyAndSmallForCaptions) {
  // Measured: tiny reads 17,000 target pieces a second on a core with AMX, 6,000 on an old one.
  EXPECT_EQ(preset_for(kCaptions, seconds_with(kCaptions, 34'000)).preset, Preset::Small);
  EXPECT_EQ(preset_for(kCaptions, seconds_with(kCaptions, 12'000)).preset, Preset::Tiny);
  constexpr TextSize kFewer{.pairs = 5'000, .target_characters = 360'000};
  EXPECT_EQ(preset_for(kFewer, seconds_with(kFewer, 25'000)).preset, Preset::Small);
  EXPECT_EQ(preset_for(kFewer, seconds_with(kFewer, 12'000)).preset, Preset::Tiny);
}

TEST(AutomaticSettings, AModelThatDoesNotFitIntoMemoryIsNotTaken) {
  const ChosenPreset chosen = preset_for(
      {.pairs = 10'000'000, .target_characters = 1'000'000'000},
      [](Preset preset) { return preset == Preset::Base ? std::nullopt : std::optional(3600.0); });
  EXPECT_EQ(chosen.preset, Preset::Small);
  EXPECT_THAT(chosen.reason, HasSubstr("base does not fit into memory"));
}

TEST(AutomaticSettings, NothingIsMeasuredForATextThatIsEnoughForTinyAlone) {
  const SecondsOf seconds_of = [](Preset) -> double { throw std::logic_error("measured"); };
  EXPECT_EQ(preset_for({.pairs = 1'000, .target_characters = 70'000}, seconds_of).preset,
            Preset::Tiny);
}

TEST(AutomaticSettings, ALargeTextGetsBaseIfItsRunEndsInDays) {
  const TextSize news{.pairs = 4'500'000, .target_characters = 550'000'000};
  EXPECT_EQ(preset_for(news, seconds_with(news, 35'000)).preset, Preset::Small);
  EXPECT_EQ(preset_for(news, seconds_with(news, 400'000)).preset, Preset::Base);
}

TEST(AutomaticSettings, ALimitThatEndsTheRunEarlierBoundsItsTargetPieces) {
  const CorpusSize corpus{.pairs = 29'000, .target_tokens = 430'000};
  TrainConfig config;
  config.preset = Preset::Small;
  config.max_tokens = 2000;
  config.update_freq = 2;
  const double whole = target_tokens_of_run(corpus, config, 3);
  EXPECT_EQ(whole, static_cast<double>(target_tokens_to_see(corpus, Preset::Small)));
  config.max_updates = 500;
  EXPECT_EQ(target_tokens_of_run(corpus, config, 3), 500 * 2000 * 2 * 3);
  config.max_epochs = 1;
  EXPECT_EQ(target_tokens_of_run(corpus, config, 3), 430'000);
  config.max_updates = config.max_epochs = 1'000'000;
  EXPECT_EQ(target_tokens_of_run(corpus, config, 3), whole);
}

TEST(AutomaticSettings, ALongerTextIsSeenLongerButNotMoreOften) {
  double last_passes = 1e9;
  std::int64_t last_tokens = 0;
  for (std::int64_t tokens = 5'000; tokens < 1'000'000'000; tokens *= 3) {
    const std::int64_t to_see =
        target_tokens_to_see({.pairs = tokens / 15, .target_tokens = tokens}, Preset::Small);
    const double passes = static_cast<double>(to_see) / static_cast<double>(tokens);
    EXPECT_GT(to_see, last_tokens);
    EXPECT_LT(passes, 1.05 * last_passes);  // the numbers are rounded
    last_tokens = to_see;
    last_passes = passes;
  }
  EXPECT_NEAR(last_passes, 21, 0.5) << "as the larger model that the next text gets";
  // Section 5.3: 100,000 updates of 25,000 pieces.
  EXPECT_NEAR(double(target_tokens_to_see({.pairs = 4'500'000, .target_tokens = 120'000'000},
                                          Preset::Base)),
              2.5e9, 0.1e9);
}

TEST(AutomaticSettings, ValidationWarmUpAndPatienceFitTheLengthOfTheRun) {
  for (const std::int64_t tokens : {4'000, 430'000, 100'000'000}) {
    const CorpusSize corpus{.pairs = tokens / 15, .target_tokens = tokens};
    for (const double per_update : {900.0, 1800.0, 24'000.0}) {
      const auto updates = static_cast<double>(updates_for(corpus, Preset::Tiny, per_update));
      const auto settings = length_settings({.updates = updates});
      EXPECT_GE(updates, 300);
      EXPECT_LE(number_of(settings, "valid-every"), 0.05 * updates);
      EXPECT_LE(number_of(settings, "warmup-updates"), 0.1 * updates);
      EXPECT_LT(number_of(settings, "patience") * number_of(settings, "valid-every"),
                0.4 * updates);
      EXPECT_GE(number_of(settings, "ema"), 0.9);
      EXPECT_LE(number_of(settings, "ema"), 0.999);
    }
  }
}

TEST(AutomaticSettings, ARunWhoseValidationsTakeLongHasFewerOfThem) {
  const auto every = [](double updates, double updates_per_validation) {
    return number_of(length_settings({updates, updates_per_validation}), "valid-every");
  };
  EXPECT_EQ(every(9000, 0), 300);
  EXPECT_EQ(every(9000, 30), 300) << "they take a tenth of the time";
  EXPECT_EQ(every(9000, 135), 900) << "ten of them take 15 % of the time";
  EXPECT_EQ(every(850, 80), 170) << "five, whatever they take";
  EXPECT_EQ(number_of(length_settings({9000, 30}), "patience"), 8);
  EXPECT_EQ(number_of(length_settings({9000, 68}), "patience"), 5);
  EXPECT_EQ(number_of(length_settings({9000, 900}), "patience"), 3);
  EXPECT_EQ(updates_per_validation(10'000, 2'000), 20);
}

TEST(AutomaticSettings, ARunOfAFewUpdatesIsNotEndedEarly) {
  EXPECT_EQ(number_of(length_settings({.updates = 28}), "patience"), 0);
  EXPECT_EQ(number_of(length_settings({.updates = 300}), "patience"), 8);
}

TEST(AutomaticSettings, EverySettingIsAFieldThatTakesItsText) {
  TrainConfig train;
  ModelConfig model;
  const std::vector<Field> fields = fields_of(train, model);
  std::vector<FieldTexts> all = {length_settings({.updates = 9000}),
                                 fine_tuning_settings({.updates = 9000}, model)};
  for (const Preset preset : {Preset::Tiny, Preset::Small, Preset::Base, Preset::Big})
    all.push_back(text_settings(preset, kCaptions));
  for (const FieldTexts& settings : all)
    for (const auto& [name, text] : settings) {
      if (name == "vocab-size" || name == "tokenizer-type" || name == "subword-sampling" ||
          name == "augment-join")
        continue;  // of the tokenizer and the data
      const auto field =
          std::ranges::find(fields, name, [](const Field& f) { return f.info.name; });
      ASSERT_NE(field, fields.end()) << name;
      EXPECT_NO_THROW(field->assign({text})) << name << " " << text;
    }
}

TEST(AutomaticSettings, FineTuningIsGentle) {
  const auto fine = fine_tuning_settings({.updates = 2000}, ModelConfig::from_preset(Preset::Tiny));
  EXPECT_LT(number_of(fine, "lr"), 0.1 * 4e-3);
  EXPECT_LE(number_of(fine, "warmup-updates"), 50);
  EXPECT_EQ(fine.at("lr-scheduler"), "wsd");
}

struct Choice {
  TrainConfig train;
  ModelConfig model = ModelConfig::from_preset(Preset::Tiny);
  ModelSize size{.parameters = 1'600'000, .fitting = 1'600'000};
  CorpusSize corpus{.pairs = 29'000, .target_tokens = 430'000};
  RunPace pace{.seconds_per_update = 0.1, .updates_per_epoch = 200, .seconds_per_validation = 0};

  Choice() {
    train.max_updates = 9000;
    train.valid_every = 300;
    train.warmup_updates = 700;
    model.target_vocabulary = 8000;
  }
  std::vector<std::string> doubts() const {
    return doubtful_choices(train, model, size, corpus, pace);
  }
};

TEST(DoubtfulChoices, NoChoiceIsDoubtfulIfEverythingFits) {
  EXPECT_THAT(Choice().doubts(), IsEmpty());
}

TEST(DoubtfulChoices, ALateFirstValidationIsWarnedAbout) {
  Choice late;
  late.train.valid_every = 1000;
  EXPECT_THAT(late.doubts(), Contains(HasSubstr("after 11 % of the run")));
  late.train.max_updates = 0;
  late.pace.seconds_per_update = 20;
  EXPECT_THAT(late.doubts(), Contains(HasSubstr("first validation comes after 5:33:20")));
}

TEST(DoubtfulChoices, TheTimeOfAValidationCounts) {
  Choice choice;
  choice.train.max_updates = 850;
  choice.train.valid_every = 170;
  choice.train.warmup_updates = 80;
  EXPECT_THAT(choice.doubts(), Contains(Names("20 % ... --valid-every 28")));
  choice.pace.seconds_per_validation = 2;
  EXPECT_THAT(choice.doubts(), IsEmpty()) << "more would take too long";
  choice.train.valid_every = 10;
  EXPECT_THAT(choice.doubts(), Contains(Names("validation ... 0:02 ... --valid-every 130 ... 6")));
}

TEST(DoubtfulChoices, ValidationsThatWereChosenForTheRunAreNotWarnedAbout) {
  for (const std::int64_t updates : {202, 1003, 9'000, 2'000'000})
    for (const double cost : {0.1, 30.0, 150.0, 2000.0}) {  // of a validation, in updates
      Choice choice;
      choice.train.max_updates = updates;
      choice.train.valid_every =
          std::stoll(length_settings({static_cast<double>(updates), cost}).at("valid-every"));
      choice.pace.seconds_per_validation = cost * choice.pace.seconds_per_update;
      EXPECT_THAT(choice.doubts(), Not(Contains(HasSubstr("--valid-every"))))
          << updates << " updates, " << cost;
    }
}

TEST(DoubtfulChoices, AWarmUpLongerThanTheRunIsWarnedAbout) {
  Choice choice;
  choice.train.warmup_updates = 9000;
  EXPECT_THAT(choice.doubts(), Contains(Names("--warmup-updates ... peak")));
}

TEST(DoubtfulChoices, ARunOfOneUpdateHasNoOtherDoubt) {
  Choice choice;
  choice.train.max_updates = 1;
  EXPECT_THAT(choice.doubts(), testing::ElementsAre(Names("one update")));
}

TEST(DoubtfulChoices, AModelTooLargeForTheTextIsWarnedAbout) {
  Choice choice;
  choice.size.parameters = 63'000'000;
  EXPECT_THAT(choice.doubts(), Contains(HasSubstr("63,000,000 parameters for 430,000")));
}

TEST(DoubtfulChoices, AVocabularyTooLargeForTheTextIsWarnedAbout) {
  Choice choice;
  choice.model.target_vocabulary = 64'000;
  EXPECT_THAT(choice.doubts(), Contains(HasSubstr("lower --vocab-size")));
}

TEST(DoubtfulChoices, TheVocabularyThatWasChosenForTheTextIsNotWarnedAbout) {
  for (std::int64_t pairs = 50; pairs < 1'000'000; pairs *= 2) {
    Choice choice;
    choice.corpus = {.pairs = pairs, .target_tokens = pairs * 430 / 29};
    choice.model.target_vocabulary =
        vocabulary_for({.pairs = pairs, .target_characters = pairs * 2000 / 29});
    EXPECT_THAT(choice.doubts(), Not(Contains(HasSubstr("--vocab-size")))) << pairs;
  }
}

TEST(DoubtfulChoices, NoDropoutAndTooFewPairsAreWarnedAbout) {
  Choice choice;
  choice.model.dropout = 0;
  EXPECT_THAT(choice.doubts(), Contains(HasSubstr("learn them by heart")));
  choice.corpus.pairs = 300;
  EXPECT_THAT(choice.doubts(), Contains(HasSubstr("only 300 pairs")));
}

}  // namespace
}  // namespace dragoman
