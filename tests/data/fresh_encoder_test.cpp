#include "data/fresh_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "data/prepare.h"
#include "tests/data/prepare_fixture.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

namespace {

TEST(ChangeCase, BothSidesChangeAlike) {
  const TextPair pair{"The NATO street.", "Die Straße der NATO."};
  EXPECT_EQ(change_case(pair, CaseChange::Upper, {}),
            (TextPair{"THE NATO STREET.", "DIE STRASSE DER NATO."}));
  EXPECT_EQ(change_case(pair, CaseChange::Title, {}),
            (TextPair{"The NATO Street.", "Die Straße Der NATO."}));
}

TEST(ChangeCase, SymbolsStayAsTheyAre) {
  const std::string kept[] = {"<num>", "<nu", "x"};
  EXPECT_EQ(change_case({"a <num> x<nub", "<num>b"}, CaseChange::Upper, kept),
            (TextPair{"A <num> x<nuB", "<num>B"}));
}

TEST(ChangeCase, PairsWhoseSourceHasNoCaseStay) {
  EXPECT_EQ(change_case({"漢字 2", "two characters"}, CaseChange::Upper, {}), std::nullopt);
  EXPECT_EQ(change_case({"NO", "nein"}, CaseChange::Upper, {}), std::nullopt);
  EXPECT_EQ(change_case({"Two Words", "zwei Wörter"}, CaseChange::Title, {}), std::nullopt);
  EXPECT_EQ(change_case({"two", "二"}, CaseChange::Upper, {}), (TextPair{"TWO", "二"}));
}

TEST(DropEndPunctuation, TheMarksOfBothSidesAreDropped) {
  EXPECT_EQ(drop_end_punctuation({"Is it? Yes!", "Ist es? Ja !"}),
            (TextPair{"Is it? Yes", "Ist es? Ja"}));
  EXPECT_EQ(drop_end_punctuation({"本当です。", "It is true..."}),
            (TextPair{"本当です", "It is true"}));
  EXPECT_EQ(drop_end_punctuation({"Wait… ", "Warte"}), (TextPair{"Wait", "Warte"}));
}

TEST(DropEndPunctuation, PairsWithoutAnEndMarkOrWithNothingElseStay) {
  EXPECT_EQ(drop_end_punctuation({"no mark ", "kein Zeichen."}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({" no mark", "kein Zeichen."}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({"(yes.)", "(ja.)"}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({"...", "..."}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({"Yes.", "."}), std::nullopt);
}

TEST(Concatenated, ConcatenatedSentencesHaveASpaceBetweenThemIfTheirScriptHasSpaces) {
  EXPECT_EQ(concatenated({"One dog ", "Ein Hund"}, {"two cats.", "zwei Katzen."}),
            (TextPair{"One dog two cats.", "Ein Hund zwei Katzen."}));
  EXPECT_EQ(concatenated({"本当です。", "It is."}, {"雨だ。", "It rains."}),
            (TextPair{"本当です。雨だ。", "It is. It rains."}));
}

class FreshEncoding : public ToyCorpora {
 protected:
  FreshEncoding() : ToyCorpora(400) {}
  static std::string source_text(const PreparedData& prepared, const EncodedSides& sides) {
    return prepared.tokenizers.source->decode(sides.source);
  }
};

TEST_F(FreshEncoding, PairsAreEncodedAgainOnlyIfASettingAsksForIt) {
  EXPECT_EQ(prepare().encoder, nullptr);
  data.augment_title_case = 0.1;
  EXPECT_NE(prepare().encoder, nullptr);
}

TEST_F(FreshEncoding, AnEncodingIsAFunctionOfSeedEpochRoundAndPair) {
  data.subword_sampling = 0.6;
  const PreparedData prepared = prepare();
  const auto encode = [&](std::int64_t pair, Turn turn) {
    return prepared.encoder->encode(prepared.train, pair, turn)->source;
  };
  int epochs = 0, rounds = 0, pairs = 0, seeds = 0;
  const auto text = std::make_shared<const ParallelText>(
      data.train_source, data.train_target, data.invalid,
      TextReading{.threads = 1, .stop = {}, .report = [](std::int64_t) {}});
  const FreshEncoder other_seed(text, prepared.tokenizers, data, 2);
  const FreshEncoder same_seed(text, prepared.tokenizers, data, 1);
  for (std::int64_t pair = 0; pair < 100; ++pair) {
    const auto tokens = encode(pair, {3, 0});
    EXPECT_EQ(encode(pair, {3, 0}), tokens);
    EXPECT_EQ(same_seed.encode(prepared.train, pair, {3, 0})->source, tokens);
    epochs += encode(pair, {4, 0}) != tokens;
    rounds += encode(pair, {3, 1}) != tokens;
    pairs += encode(pair + 400, {3, 0}) != tokens;  // the same text, with a tag
    seeds += other_seed.encode(prepared.train, pair, {3, 0})->source != tokens;
  }
  for (const int different : {epochs, rounds, pairs, seeds}) EXPECT_GT(different, 80);
}

TEST_F(FreshEncoding, JoinedPairsAreOfTheSameFile) {
  data.augment_join = 0.5;
  const PreparedData prepared = prepare();
  int longer = 0;
  for (std::int64_t pair = 0; pair < 800; ++pair) {
    const auto sides = prepared.encoder->encode(prepared.train, pair, {0, 0});
    if (!sides) continue;
    ++longer;
    const std::string source = source_text(prepared, *sides);
    const std::string target = prepared.tokenizers.target->decode(sides->target);
    const std::size_t second = target.find(" das ");
    ASSERT_NE(second, target.npos) << target;
    EXPECT_TRUE(source.ends_with(target.substr(second + 5))) << source;
    EXPECT_EQ(source.starts_with("<bt>"), pair >= 400);
    EXPECT_EQ(source.find("<bt>", 1), source.npos);
  }
  EXPECT_NEAR(longer / 800.0, 0.5, 0.1);
}

TEST_F(FreshEncoding, TermsThatTheTargetHasAreWrittenIntoTheSource) {
  data.train_terms = write("terms.tsv", "dog\tdog\nhouse\thous\ncat\tKatze\n");
  data.train_terms_share = 0.5;
  const PreparedData prepared = prepare();
  EXPECT_TRUE(prepared.file_hashes.contains(data.train_terms));
  int with_dog = 0, marked = 0;
  for (std::int64_t epoch = 0; epoch < 10; ++epoch)
    for (std::int64_t pair = 0; pair < 400; ++pair) {
      const auto sides = prepared.encoder->encode(prepared.train, pair, {epoch, 0});
      const std::string plain = prepared.tokenizers.source->decode(prepared.train.source(pair));
      with_dog += plain.find(" dog") != plain.npos || plain.find(" house") != plain.npos;
      if (!sides) continue;
      ++marked;
      const std::string source = source_text(prepared, *sides);
      EXPECT_TRUE(source.find("dog<term> dog</term>") != source.npos ||
                  source.find("house<term> hous</term>") != source.npos)
          << source;
      EXPECT_EQ(sides->target, prepared.train.target(pair));
    }
  EXPECT_NEAR(marked / double(with_dog), 0.5, 0.06);
}

TEST_F(FreshEncoding, TermsNeedATokenizerThatKnowsThem) {
  data.train_terms = write("terms.tsv", "dog\tHund\n");
  const Tokenizer given = train_on(sample_text(300), {.vocab_size = 290});
  tokenizer.source_model = write("given.model", given.model_bytes());
  EXPECT_THROW(prepare(), UsageError);
}

TEST_F(FreshEncoding, TheFractionThatIsAskedForChangesAndOtherPairsInEachEpoch) {
  data.augment_upper_case = 0.2;
  data.augment_title_case = 0.3;
  data.augment_drop_end_punctuation = 0.4;
  const PreparedData prepared = prepare();
  int upper = 0, title = 0, dropped = 0, all = 0;
  for (std::int64_t epoch = 0; epoch < 10; ++epoch)
    for (std::int64_t pair = 0; pair < 400; ++pair, ++all) {
      const auto sides = prepared.encoder->encode(prepared.train, pair, {epoch, 0});
      if (!sides) continue;
      const std::string source = source_text(prepared, *sides);
      const std::string target = prepared.tokenizers.target->decode(sides->target);
      upper += source.starts_with("THE ");
      title += source.starts_with("The ");
      dropped += !source.ends_with('.');
      EXPECT_EQ(target.starts_with("DAS THE "), source.starts_with("THE "));
      EXPECT_EQ(target.starts_with("Das The "), source.starts_with("The "));
      EXPECT_EQ(target.ends_with('.'), source.ends_with('.'));
    }
  // Five standard deviations of 4,000 draws are below 0.04.
  EXPECT_NEAR(upper / double(all), 0.2, 0.04);
  EXPECT_NEAR(title / double(all), 0.3, 0.04);
  EXPECT_NEAR(dropped / double(all), 0.4, 0.04);
}

TEST_F(FreshEncoding, OtherPairsStayAsTheCorpusHasThem) {
  data.augment_upper_case = 0.5;
  const PreparedData prepared = prepare();
  int unchanged = 0;
  for (std::int64_t pair = 0; pair < 100; ++pair)
    unchanged += !prepared.encoder->encode(prepared.train, pair, {0, 0});
  EXPECT_GT(unchanged, 20);
  EXPECT_LT(unchanged, 80);
}

TEST_F(FreshEncoding, ChangedTextKeepsItsTagInFront) {
  data.augment_upper_case = 1;
  const PreparedData prepared = prepare();
  const Tokenizer& encoder = *prepared.tokenizers.source;
  const auto sides = prepared.encoder->encode(prepared.train, 400, {0, 0});
  ASSERT_TRUE(sides);
  EXPECT_EQ(sides->source, encoder.encode("<bt> " + upper_case(sample_text(1)[0])));
}

TEST_F(FreshEncoding, OnlyTheSideAskedForIsSampled) {
  data.subword_sampling = 0.5;
  for (const SamplingSide side : {SamplingSide::Both, SamplingSide::Source, SamplingSide::Target}) {
    data.subword_sampling_side = side;
    const PreparedData prepared = prepare();
    int source = 0, target = 0;
    for (std::int64_t pair = 0; pair < 100; ++pair) {
      const auto sides = prepared.encoder->encode(prepared.train, pair, {0, 0});
      source += sides->source != prepared.train.source(pair);
      target += sides->target != prepared.train.target(pair);
    }
    EXPECT_EQ(source > 50, side != SamplingSide::Target);
    EXPECT_EQ(target > 50, side != SamplingSide::Source);
    EXPECT_EQ(source + target > 150, side == SamplingSide::Both);
  }
}

TEST_F(FreshEncoding, NoSideBecomesLongerThanMaxLength) {
  data.subword_sampling = 1;
  data.max_length = 40;
  const PreparedData prepared = prepare();
  int taken = 0, refused = 0;
  for (std::int64_t pair = 0; pair < prepared.train.pairs(); ++pair) {
    const auto sides = prepared.encoder->encode(prepared.train, pair, {0, 0});
    (sides ? taken : refused)++;
    if (sides) {
      EXPECT_LE(std::max(sides->source.size(), sides->target.size()), 40u);
    }
  }
  EXPECT_GT(taken, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(FreshEncoding, TheTokenCacheStaysUnchanged) {
  prepare();
  data.subword_sampling = 0.1;
  EXPECT_EQ(prepare().cache, CacheUse::Reused);
}

}  // namespace

}  // namespace dragoman
