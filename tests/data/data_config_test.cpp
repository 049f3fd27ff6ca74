#include "data/data_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "data/batch_stream.h"
#include "tests/data/prepare_fixture.h"
#include "tests/data/text_files.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

namespace {

using testing::Contains;
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
              HasSubstr("--augment-upper-case and --augment-title-case"));
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
    EXPECT_EQ(prepared.report.empty, 1) << "a tag alone is no text";
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
  EXPECT_EQ(prepare().weights(), (std::vector<WeightedPairs>{{0, 1}, {300, 1}}));
  data.corpus_weights = {"1", "2.5"};
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.sections[1].pairs, 2);
  EXPECT_EQ(prepared.sections[1].tag, "<bt>");
  EXPECT_EQ(prepared.weights(), (std::vector<WeightedPairs>{{0, 1}, {300, 2.5}}));
  EXPECT_EQ(prepare().cache, CacheUse::Reused) << "weights leave the tokens as they are";
}

}  // namespace

}  // namespace dragoman
