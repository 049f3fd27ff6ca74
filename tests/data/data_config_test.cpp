#include "data/data_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/batch_stream.h"
#include "tests/data/prepare_fixture.h"
#include "tests/folder_test.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(DataConfig, ValuesThatMakeNoSenseAreRefusedByTheNameOfTheFlag) {
  const DataConfig good{.train_source = {"a", "b"}, .train_target = {"A", "B"}};
  const auto message = [&good](auto change) {
    DataConfig config = good;
    change(config);
    return message_of<UsageError>([&] { config.check(); });
  };
  EXPECT_EQ(message([](DataConfig&) {}), "");
  EXPECT_THAT(message([](DataConfig& c) { c.train_source.pop_back(); }),
              Names("--train-src ... 1 file ... --train-tgt ... 2"));
  EXPECT_THAT(message([](DataConfig& c) { c.train_source = c.train_target = {}; }),
              HasSubstr("--train-src"));
  EXPECT_THAT(message([](DataConfig& c) { c.valid_source = {"v"}; }), HasSubstr("--valid-src"));
  EXPECT_THAT(message([](DataConfig& c) { c.max_length = -1; }), HasSubstr("--max-length"));
  EXPECT_THAT(message([](DataConfig& c) { c.max_ratio = 0.5; }), HasSubstr("--max-ratio"));
  EXPECT_THAT(message([](DataConfig& c) { c.valid_fraction = 0.9; }),
              HasSubstr("--valid-fraction"));
  EXPECT_THAT(message([](DataConfig& c) { c.corpus_weights = {"1"}; }),
              Names("--corpus-weights ... 1 value ... 2"));
  for (const std::string weight : {"0", "-1", "x", "1e9"})
    EXPECT_THAT(message([&](DataConfig& c) {
                  c.corpus_weights = {"1", weight};
                }),
                HasSubstr("--corpus-weights"));
  EXPECT_EQ(message([](DataConfig& c) { c.corpus_weights = {"0.5", "3"}; }), "");
  EXPECT_THAT(message([](DataConfig& c) {
                c.corpus_tags = {"", "", "<a>"};
              }),
              Names("--corpus-tags ... 3 values ... 2"));
  EXPECT_THAT(message([](DataConfig& c) {
                c.corpus_tags = {"", "a b"};
              }),
              HasSubstr("--corpus-tags a b"));
  EXPECT_EQ(message([](DataConfig& c) { c.corpus_tags = {"", "<bt>"}; }), "");
  for (const std::string tag : {"<s>", "<0x41>"})
    EXPECT_THAT(message([&](DataConfig& c) {
                  c.corpus_tags = {"", tag};
                }),
                Names("--corpus-tags " + tag + " ... vocabulary"));
  EXPECT_THAT(message([](DataConfig& c) { c.subword_sampling = 1.5; }),
              HasSubstr("--subword-sampling 1.5"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_drop_end_punctuation = -0.1; }),
              HasSubstr("--augment-drop-end-punctuation"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_upper_case = c.augment_title_case = 0.6; }),
              Names("--augment-upper-case ... --augment-title-case"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_typos = 2; }), HasSubstr("--augment-typos"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_inline_tags = -1; }),
              HasSubstr("--augment-inline-tags"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_copied_text = 1.1; }),
              HasSubstr("--augment-copied-text"));
  EXPECT_THAT(message([](DataConfig& c) { c.corpus_temperature = 0.5; }),
              HasSubstr("--corpus-temperature 0.5"));
}

TEST(DataConfig, StagesThatMakeNoSenseAreRefused) {
  const auto message = [](std::vector<std::string> mix, std::vector<std::string> weights = {}) {
    const DataConfig config{.train_source = {"a", "b"},
                            .train_target = {"A", "B"},
                            .corpus_weights = std::move(weights),
                            .mix = std::move(mix)};
    return message_of<UsageError>([&] { config.check(); });
  };
  EXPECT_EQ(message({"2: 1 0", "0.5 1"}), "");
  EXPECT_THAT(message({"2: 1 0", "1: 0.5 1"}), Names("--mix '1: 0.5 1' ... last stage"));
  EXPECT_THAT(message({"1 0", "0.5 1"}), Names("--mix '1 0' ... passes"));
  EXPECT_THAT(message({"0: 1 0", "0.5 1"}), Names("--mix '0: 1 0' ... one pass"));
  EXPECT_THAT(message({"x: 1 0", "0.5 1"}), Names("--mix 'x: 1 0' ... passes ... patience"));
  EXPECT_THAT(message({"1: 1 0", "patience: 0.5 1"}), Names("--mix 'patience: 0.5 1' ... last"));
  EXPECT_THAT(message({"1: 0 0", "0.5 1"}), Names("--mix '1: 0 0' ... above 0"));
  EXPECT_THAT(message({"1: 1 -1", "0.5 1"}), Names("--mix '1: 1 -1' ... from 0"));
  EXPECT_THAT(message({"1: 1", "0.5 1"}), Names("--mix ... 1 value ... 2 training files"));
  EXPECT_THAT(message({""}), HasSubstr("--mix"));
  EXPECT_THAT(message({"1 1"}, {"1", "1"}), Names("--mix ... --corpus-weights"));
}

TEST(DataConfig, AStageThatLastsUntilPatienceIsUsedUpNeedsAValidationText) {
  DataConfig config{.train_source = {"a", "b"},
                    .train_target = {"A", "B"},
                    .mix = {"2: 1 0", "patience: 1 1", "0 1"},
                    .valid_fraction = 0};
  EXPECT_THAT(message_of<UsageError>([&] { config.check(); }),
              Names("--mix 'patience: 1 1' ... --valid-src"));
  config.valid = {"v.tmx"};
  EXPECT_NO_THROW(config.check());
  config.valid = {};
  config.valid_fraction = 0.01;
  EXPECT_NO_THROW(config.check());
}

TEST(DataConfig, AStageHasItsPassesAndTheWeightsOfTheFiles) {
  const DataConfig config{.train_source = {"a", "b"},
                          .train_target = {"A", "B"},
                          .mix = {"2: 1 0", " patience : 1  0.5", "0 7"}};
  EXPECT_EQ(config.stages(), (std::vector<MixStage>{{2, {1, 0}}, {0, {1, 0.5}}, {0, {0, 7}}}));
  EXPECT_EQ(config.stage_with_patience(), " patience : 1  0.5");
}

TEST(Tempered, FilesHavePartsOfAnEpochByTheRootOfTheirSize) {
  for (const double temperature : {1.0, 2.0, 5.0}) {
    const auto part = [&](std::int64_t pairs) {
      return static_cast<double>(pairs) * tempered(temperature, pairs, 1'000'000);
    };
    EXPECT_NEAR(part(1'000'000), 1e6, 1e-3);
    EXPECT_NEAR(part(20'000) / part(1'000'000), std::pow(0.02, 1 / temperature), 1e-9);
  }
  EXPECT_EQ(tempered(100, 1, 1'000'000'000), 1000) << "the largest weight";
  EXPECT_EQ(tempered(2, 0, 100), 1);
}

TEST(PassesRatio, TheLongerSideDecidesWhicheverItIs) {
  EXPECT_TRUE(passes_ratio(20, 10, 2));
  EXPECT_TRUE(passes_ratio(10, 20, 2));
  EXPECT_FALSE(passes_ratio(21, 10, 2));
  EXPECT_FALSE(passes_ratio(10, 21, 2));
  EXPECT_TRUE(passes_ratio(10, 1, 2)) << "short sentences pass";
  EXPECT_FALSE(passes_ratio(11, 1, 2));
  EXPECT_TRUE(passes_ratio(1000, 1, 0)) << "no limit";
  EXPECT_FALSE(passes_ratio(100, 0, 9));
}

/// Two files, the second with a tag.
class TaggedCorpora : public PrepareTest {
 protected:
  TaggedCorpora() {
    set_text(sample_text(300));
    data.train_source.push_back(write("b.en", "the dog\n\nthe blue house\n"));
    data.train_target.push_back(write("b.de", "der Hund\nleer\ndas blaue Haus\n"));
    data.corpus_tags = {"", "<bt>"};
    data.keep_duplicates = true;
  }
};

TEST_F(TaggedCorpora, TheTagIsInFrontOfEachSourceAsIfTheTextHadIt) {
  for (const TokenizerType type : {TokenizerType::Unigram, TokenizerType::Bpe}) {
    tokenizer.type = type;
    const PreparedData prepared = prepare();
    const Tokenizer& encoder = *prepared.tokenizers.source;
    ASSERT_EQ(prepared.train.pairs(), 302);
    EXPECT_EQ(prepared.report.empty, 1) << "a tag alone is not text";
    EXPECT_EQ(prepared.train.source(299), encoder.encode(sample_text(300)[299]));
    EXPECT_EQ(prepared.train.source(300), encoder.encode("<bt> the dog"));
    EXPECT_EQ(prepared.train.source(301), encoder.encode("<bt> the blue house"));
    EXPECT_THAT(prepared.train.source(301), Contains(encoder.id("<bt>")));
    EXPECT_NE(encoder.id("<bt>"), encoder.unk_id());
    EXPECT_EQ(prepared.train.target(301), encoder.encode("das blaue Haus"));
  }
}

TEST_F(TaggedCorpora, OnlyTheSourceTokenizerOfTwoHasTheTag) {
  tokenizer.joint = false;
  const PreparedData prepared = prepare();
  EXPECT_NE(prepared.tokenizers.source->id("<bt>"), prepared.tokenizers.source->unk_id());
  EXPECT_EQ(prepared.tokenizers.target->id("<bt>"), prepared.tokenizers.target->unk_id());
}

TEST_F(TaggedCorpora, TheTokenizerMustKnowTheTag) {
  const auto lines = sample_text(200);
  tokenizer.source_model =
      write("without.model", train_on(lines, {.vocab_size = 300}).model_bytes());
  EXPECT_THAT(message_of<UsageError>([&] { prepare(); }), HasSubstr("--corpus-tags <bt>"));
  TokenizerConfig with_tag{.vocab_size = 300};
  with_tag.user_symbols = {"<bt>"};
  tokenizer.source_model = write("with.model", train_on(lines, with_tag).model_bytes());
  EXPECT_EQ(prepare().train.pairs(), 302);
}

TEST_F(TaggedCorpora, OtherTagsMakeAnotherCache) {
  prepare();
  EXPECT_EQ(prepare().cache, CacheUse::Reused);
  data.corpus_tags = {"<bt>", ""};
  EXPECT_EQ(prepare().cache, CacheUse::Built);
}

TEST_F(TaggedCorpora, HeldOutLinesHaveTheTagIfAllCorporaHaveOne) {
  data.corpus_tags = {"<a>", "<bt>"};
  data.valid_fraction = 0.1;
  const PreparedData prepared = prepare();
  ASSERT_FALSE(prepared.valid.source_lines.empty());
  for (const std::string& line : prepared.valid.source_lines)
    EXPECT_TRUE(line.starts_with("<a> ") || line.starts_with("<bt> ")) << line;
}

TEST_F(TaggedCorpora, WeightsBelongToTheKeptPairsOfTheirFiles) {
  EXPECT_EQ(prepare().stages(), (std::vector<WeightStage>{{0, {{0, 1}, {300, 1}}}}));
  data.corpus_weights = {"1", "2.5"};
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.sections[1].pairs, 2);
  EXPECT_EQ(prepared.sections[1].tag, "<bt>");
  EXPECT_EQ(prepared.stages(), (std::vector<WeightStage>{{0, {{0, 1}, {300, 2.5}}}}));
  EXPECT_EQ(prepare().cache, CacheUse::Reused) << "weights leave the tokens as they are";
  data.corpus_temperature = 2;
  EXPECT_DOUBLE_EQ(prepare().sections[0].weights[0], 1);
  EXPECT_DOUBLE_EQ(prepare().sections[1].weights[0], 2.5 * std::sqrt(150));
}

TEST_F(TaggedCorpora, FilesThatHaveOneSourceAreNamedByBothSides) {
  data.train_source.push_back(data.train_source[1]);
  data.train_target.push_back(write("c.de", "der Köter\n\ndas Haus in Blau\n"));
  data.corpus_tags.clear();
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.sections[0].name, data.train_source[0]);
  for (const std::size_t file : {1, 2})
    EXPECT_EQ(prepared.sections[file].name,
              data.train_source[file] + " and " + data.train_target[file]);
}

TEST_F(TaggedCorpora, StagesHaveTheirWeightsAndARunShowsAPairAsOftenAsTheySay) {
  data.mix = {"2: 1 0", "4: 0.5 3", "0 1"};
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.stages(),
            (std::vector<WeightStage>{
                {0, {{0, 1}, {300, 0}}}, {2, {{0, 0.5}, {300, 3}}}, {6, {{0, 0}, {300, 1}}}}));
  // Epochs of 300 pairs, 156 pairs and 2 pairs.
  const auto expect_shown = [&](double updates, double first, double second) {
    const auto times = prepared.times_shown(updates, 300);  // an update shows one pair
    EXPECT_NEAR(times[0], first, 1e-9);
    EXPECT_NEAR(times[1], second, 1e-9);
  };
  expect_shown(150, 0.5, 0);
  expect_shown(600 + 156, 2.5, 3);
  expect_shown(600 + 4 * 156 + 10, 4, 17);
}

TEST_F(TaggedCorpora, AStageAfterOneWithoutAnEndBeginsWhenTheRunSaysSo) {
  data.mix = {"2: 1 0", "patience: 0.5 3", "1: 1 1", "0 1"};
  data.valid_source = {write("valid.en", "a house\n")};
  data.valid_target = {write("valid.de", "ein Haus\n")};
  const PreparedData prepared = prepare();
  const auto first_epochs = [&](std::int64_t number, std::int64_t first_epoch) {
    std::vector<std::int64_t> epochs;
    for (const WeightStage& stage : prepared.stages(number, first_epoch))
      epochs.push_back(stage.first_epoch);
    return epochs;
  };
  EXPECT_THAT(first_epochs(0, 0), ElementsAre(0, 2, kUnknownEpoch, kUnknownEpoch));
  EXPECT_THAT(first_epochs(1, 2), ElementsAre(0, 2, kUnknownEpoch, kUnknownEpoch));
  EXPECT_THAT(first_epochs(2, 7), ElementsAre(0, 2, 7, 8));
  EXPECT_THAT(first_epochs(3, 8), ElementsAre(0, 2, kUnknownEpoch, 8));
  // Epochs of 300 and 156 pairs; an update shows one.
  EXPECT_NEAR(prepared.times_shown(600 + 156, 300)[1], 3, 1e-9);
  for (int updates = 1; updates < 100; ++updates)
    EXPECT_GE(prepared.times_shown(updates, 2.7)[1], 0);
}

TEST_F(TaggedCorpora, AStageWithoutAPairIsRefused) {
  data.train_source[1] = write("b.en", "\n");
  data.train_target[1] = write("b.de", "\n");
  data.mix = {"1: 1 1", "0 1"};
  EXPECT_THAT(message_of<UsageError>([&] { prepare(); }), Names("--mix ... stage 2 ... no pair"));
}

}  // namespace

}  // namespace dragoman
