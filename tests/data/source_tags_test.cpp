#include "data/source_tags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "data/batch_stream.h"
#include "tests/data/prepare_fixture.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::Contains;
using testing::HasSubstr;

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

TEST_F(TaggedCorpora, HeldOutLinesHaveTheTagWhereAllCorporaHaveOne) {
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
