#include "data/fresh_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "base/utf8.h"
#include "data/prepare.h"
#include "tests/data/prepare_fixture.h"
#include "tests/repeated.h"
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

std::multiset<char> letters_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(Mistyped, OneLetterInFortyIsWrongWithinAWord) {
  const std::string line = "Paul Smith said <num> things.";
  const std::string kept[] = {"<num>"};
  int shorter = 0, longer = 0, swapped = 0, other = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    RandomStream random(seed, 1);
    const auto result = mistyped(line, kept, random);
    if (!result) continue;  // two equal letters have changed places
    EXPECT_THAT(*result, testing::HasSubstr(" <num> "));
    EXPECT_EQ(words_between_spaces(*result).size(), 5u) << *result;
    EXPECT_TRUE(result->ends_with('.'));
    shorter += result->size() < line.size();
    longer += result->size() > line.size();
    if (result->size() != line.size()) continue;
    (letters_of(*result) == letters_of(line) ? swapped : other)++;
  }
  for (const int kind : {shorter, longer, swapped, other}) EXPECT_GT(kind, 15);
  RandomStream random(1, 1), again(1, 1);
  EXPECT_EQ(mistyped(line, kept, random), mistyped(line, kept, again));
  const std::string text = repeated("translate ", 40);
  const std::string long_line = mistyped(text, {}, random).value();
  int wrong = 0;
  for (const ByteRange& word : words_between_spaces(long_line))
    wrong += word.of(long_line) != "translate";
  EXPECT_GE(wrong, 6);
  EXPECT_LE(wrong, 11);
}

TEST(Mistyped, TextWithoutWordsOfLettersStays) {
  RandomStream random(1, 1);
  for (const std::string text : {"", "4,711 + 5", "a b c", "本当です。", "<num>"}) {
    const std::string kept[] = {"<num>"};
    EXPECT_EQ(mistyped(text, kept, random), std::nullopt) << text;
  }
}

TEST(WithInlineTag, ATagIsAroundAWordOfBothSidesOrAroundAll) {
  RandomStream random(1, 1);
  const auto without_name = [](std::string text, const std::string& name) {
    for (std::size_t at; (at = text.find(name + ">")) != text.npos;) text.erase(at, name.size());
    return text;
  };
  const auto name_of_tag = [](const std::string& text) {
    const std::size_t begin = text.find('<') + 1;
    return text.substr(begin, text.find('>') - begin);
  };
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const TextPair one = with_inline_tag({"Anna sees the the dog ", "Ein Hund sieht Anna"}, random);
    const std::string name = name_of_tag(one.source);
    names.insert(name);
    EXPECT_EQ(without_name(one.source, name), "<>Anna</> sees the the dog");
    EXPECT_EQ(without_name(one.target, name), "Ein Hund sieht <>Anna</>");
  }
  EXPECT_GT(names.size(), 5u);
  const TextPair all = with_inline_tag({"the x and the x", "das x und x"}, random);
  const std::string name = name_of_tag(all.target);
  EXPECT_EQ(all, (TextPair{"<" + name + ">the x and the x</" + name + ">",
                           "<" + name + ">das x und x</" + name + ">"}));
  EXPECT_EQ(with_inline_tag({"", " "}, random), (TextPair{"", " "}));
}

TEST(WithCopiedText, BothSidesHaveTheSameCode) {
  RandomStream random(1, 1);
  int at_end = 0;
  std::set<std::string> codes;
  for (int i = 0; i < 200; ++i) {
    const TextPair pair = with_copied_text({"a dog", "ein Hund"}, random);
    const bool ends = pair.source.starts_with("a dog ");
    at_end += ends;
    const std::string code =
        ends ? pair.source.substr(6) : pair.source.substr(0, pair.source.find(' '));
    codes.insert(code);
    EXPECT_GE(code.size(), 3u);
    EXPECT_LE(code.size(), 10u);
    EXPECT_EQ(pair.source, ends ? "a dog " + code : code + " a dog");
    EXPECT_EQ(pair.target, ends ? "ein Hund " + code : code + " ein Hund");
  }
  EXPECT_NEAR(at_end, 100, 35);
  EXPECT_GT(codes.size(), 190u);
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
  const auto text = std::make_shared<const ParallelText>(data.train_source, data.train_target,
                                                         data.invalid, TextReading{.threads = 1});
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

TEST_F(FreshEncoding, EachKindOfNoiseHasItsShareAndTyposLeaveTheTarget) {
  data.augment_typos = 0.3;
  data.augment_inline_tags = 0.2;
  data.augment_copied_text = 0.1;
  const PreparedData prepared = prepare();
  int typos = 0, tags = 0, codes = 0, all = 0;
  for (std::int64_t epoch = 0; epoch < 10; ++epoch)
    for (std::int64_t pair = 0; pair < 400; ++pair, ++all) {
      const auto sides = prepared.encoder->encode(prepared.train, pair, {epoch, 0});
      if (!sides) continue;
      const std::string plain = prepared.tokenizers.target->decode(prepared.train.target(pair));
      const std::string source = source_text(prepared, *sides);
      const std::string target = prepared.tokenizers.target->decode(sides->target);
      EXPECT_EQ(source.find('<') == source.npos, target.find('<') == target.npos);
      tags += target.find('<') != target.npos;
      const bool has_code =
          words_between_spaces(target).size() > words_between_spaces(plain).size();
      codes += has_code;
      if (has_code || target.find('<') != target.npos) continue;
      EXPECT_EQ(sides->target, prepared.train.target(pair));
      typos += "das " + source != target;
    }
  // Five standard deviations of 4,000 draws are below 0.04.
  EXPECT_NEAR(tags / double(all), 0.2, 0.04);
  EXPECT_NEAR(codes / double(all), 0.1, 0.04);
  EXPECT_NEAR(typos / double(all), 0.3 * 0.8 * 0.9, 0.04);
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
