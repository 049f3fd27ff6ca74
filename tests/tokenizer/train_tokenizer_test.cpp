#include "tokenizer/train_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/bytes.h"
#include "base/error.h"
#include "base/random.h"
#include "base/utf8.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"
#include "tokenizer/subword_sampler.h"
#include "tokenizer/terms.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TokenizerConfig of_type(TokenizerType type, std::int64_t vocab_size) {
  return {.vocab_size = vocab_size, .type = type};
}

constexpr TokenizerType kTypes[] = {TokenizerType::Unigram, TokenizerType::Bpe};

TEST(TrainTokenizer, AnyOrderOfLinesGivesTheSameBytes) {
  auto lines = sample_text(300);
  for (const auto type : kTypes) {
    const auto first = train_tokenizer(views(lines), of_type(type, 400));
    std::vector<std::string> shuffled = lines;
    RandomStream(1).shuffle(shuffled);
    ASSERT_NE(shuffled, lines);
    EXPECT_TRUE(train_tokenizer(views(shuffled), of_type(type, 400)).model_bytes ==
                first.model_bytes);
  }
}

TEST(TrainTokenizer, TheSampleIsChosenByContentNotByOrder) {
  auto lines = sample_text(1000);
  TokenizerConfig config{.vocab_size = 350, .sample_lines = 100};
  const auto first = train_tokenizer(views(lines), config);
  RandomStream(2).shuffle(lines);
  EXPECT_TRUE(train_tokenizer(views(lines), config).model_bytes == first.model_bytes);
  config.sample_lines = 1000;
  EXPECT_FALSE(train_tokenizer(views(lines), config).model_bytes == first.model_bytes);
}

TEST(TrainTokenizer, TheSampleIsTakenFromTheWholeText) {
  std::vector<std::string> lines(500, "aardvark ");
  lines.insert(lines.end(), 500, "zebra ");
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += std::to_string(i);
  const Tokenizer tokenizer =
      train_on(lines, {.vocab_size = 320, .type = TokenizerType::Bpe, .sample_lines = 100});
  EXPECT_LE(tokenizer.encode("aardvark").size(), 3u);
  EXPECT_LE(tokenizer.encode("zebra").size(), 3u);
}

TEST(TrainTokenizer, TheTokenizerHasAsManyPiecesAsAskedFor) {
  const auto lines = sample_text(400);
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(views(lines), of_type(type, 330));
    EXPECT_EQ(trained.vocab_size, 330);
    EXPECT_EQ(Tokenizer(trained.model_bytes, "trained").size(), 330);
    EXPECT_EQ(trained.character_coverage, 1.0);
  }
}

TEST(TrainTokenizer, TheVocabularyIsSmallerIfTheTextAllowsFewerPieces) {
  const auto lines = sample_text(20);
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(views(lines), of_type(type, 32'000));
    EXPECT_LT(trained.vocab_size, 1000);
    EXPECT_EQ(Tokenizer(trained.model_bytes, "trained").size(), trained.vocab_size);
  }
}

TEST(TrainTokenizer, RareCharactersAreLeftToBytesIfTheVocabularyIsTooSmall) {
  std::vector<std::string> lines = sample_text(2000);
  for (char32_t c = 0x4E00; c < 0x4E00 + 100; ++c) lines.push_back(to_utf8({&c, 1}));
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(views(lines), of_type(type, 320));
    EXPECT_LT(trained.character_coverage, 1.0);
    const Tokenizer tokenizer(trained.model_bytes, "trained");
    EXPECT_EQ(tokenizer.size(), 320);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("一丁 blue")), "一丁 blue");
  }
}

TEST(TrainTokenizer, AnErrorSaysHowManyPiecesAreNeededAtLeast) {
  const std::vector<std::string> lines = sample_text(100);
  EXPECT_THAT([&] { train_tokenizer(views(lines), {.vocab_size = 265}); },
              testing::ThrowsMessage<UsageError>(
                  testing::AllOf(HasSubstr("--vocab-size 265"), HasSubstr("at least 2"))));
}

TEST(TrainTokenizer, TextWithoutCharactersIsAnErrorAndNoCrash) {
  for (const std::vector<std::string>& lines : {std::vector<std::string>{},
                                                {""},
                                                {" ", "\t"},
                                                {"\u00A0\u3000"},
                                                {"\x01\x02"},
                                                {"▁▁"},
                                                {"▅"},
                                                {"▅ ▁", "\u00A0"}})
    for (const auto type : kTypes)
      EXPECT_THROW(train_tokenizer(views(lines), of_type(type, 300)), Error);
}

TEST(TrainTokenizer, TheSmallestTextsAreEnough) {
  for (const std::string line : {"a", "ab", "a a", "漢", "⁇ <unk> </s>", "a\tb", "▅a"})
    for (const auto type : kTypes) {
      const auto trained = train_tokenizer({line}, of_type(type, 300));
      EXPECT_GT(trained.vocab_size, 259) << line;
    }
}

TEST(TrainTokenizer, LongAndBrokenLinesDoNotHarm) {
  std::string long_word, many_words, characters;
  for (int i = 0; i < 100'000; ++i) long_word += static_cast<char>('a' + i * 7919 % 26);
  for (int i = 0; i < 20'000; ++i) many_words += i < 19'000 ? "word " : "zebra ";
  for (int i = 0; i < 10'000; ++i) characters += "漢字かな";
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(
        {long_word, many_words, characters, "\xFF\xFE", std::string_view("a\0b", 3)},
        of_type(type, 400));
    const Tokenizer tokenizer(trained.model_bytes, "trained");
    EXPECT_LE(tokenizer.encode("zebra").size(), 2u) << "the end of a long line was not seen";
  }
}

TEST(TrainTokenizer, TheNormalisedTextIsLowerCased) {
  const auto lines = sample_text(200);
  const Tokenizer plain = train_on(lines, {.vocab_size = 400});
  const Tokenizer lower = train_on(lines, {.vocab_size = 400, .lowercase = true});
  const auto normal = [](const Tokenizer& tokenizer, std::string_view text) {
    return tokenizer.decode(tokenizer.encode(text));
  };
  EXPECT_EQ(normal(lower, "Die STRASSE und die Straße"), "die strasse und die straße");
  EXPECT_EQ(normal(lower, "École, E\u0301cole, ÉCOLE"), "école, école, école");
  EXPECT_EQ(normal(lower, "\u1EBE E\u0302\u0301 \u00CA\u0301"), "\u1EBF \u1EBF \u1EBF");
  EXPECT_EQ(normal(lower, "ΑΘΉΝΑ İ ǅ Ⅷ ＡＢ ℌ ﬃ"), "αθήνα i̇ dž viii ab h ffi");

  RandomStream random(3);
  for (int i = 0; i < 2000; ++i) {
    std::u32string characters;
    for (int n = 0; n < 8; ++n) {
      const auto c = static_cast<char32_t>(1 + random.below(i % 2 == 0 ? 0x600 : 0x1FFFF));
      // A mark after a raised letter is not joined with the letter's new form, and a Σ (or Ϲ) at
      // the end of a word is not looked for.
      if (!(c >= 0xD800 && c < 0xE000) && !(c >= 0x2B0 && c < 0x300) && c != 0x3A3 && c != 0x3F9)
        characters += c;
    }
    const std::string text = to_utf8(characters);
    EXPECT_EQ(normal(lower, text), lower_case(normal(plain, text))) << text;
  }
}

TEST(TrainTokenizer, UserSymbolsKeepTheirCase) {
  const Tokenizer lower =
      train_on(sample_text(200), {.vocab_size = 400, .lowercase = true, .user_symbols = {"<URL>"}});
  EXPECT_EQ(lower.decode(lower.encode("See <URL> AND <url>")), "see <URL> and <url>");
}

TEST(TrainTokenizer, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  train_tokenizer(views(sample_text(50)), {.vocab_size = 32'000});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_THAT(testing::internal::GetCapturedStdout(), IsEmpty());
}

TEST(TokenizerConfig, ValuesThatSentencePieceWouldRefuseAreRefusedByTheNameOfTheFlag) {
  const auto message = [](const TokenizerConfig& config) -> std::string {
    return message_of<UsageError>([&] { config.check(); });
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.user_symbols = {"<2de>"}}), "");
  EXPECT_THAT(message({.vocab_size = 259}), HasSubstr("--vocab-size 259"));
  EXPECT_THAT(message({.character_coverage = 0.5}), HasSubstr("--character-coverage"));
  EXPECT_THAT(message({.user_symbols = {"a", "a"}}), HasSubstr("--user-symbols a"));
  EXPECT_THAT(message({.user_symbols = {"<0x41>"}}), HasSubstr("--user-symbols <0x41>"));
  EXPECT_THAT(message({.user_symbols = {"<s>"}}), HasSubstr("--user-symbols <s>"));
  EXPECT_THAT(message({.user_symbols = {""}}), HasSubstr("--user-symbols"));
  EXPECT_THAT(message({.user_symbols = {"\xFF"}}), HasSubstr("--user-symbols"));
  EXPECT_THAT(message({.sample_lines = 0}), HasSubstr("--tokenizer-lines"));
  EXPECT_THAT(message({.target_model = "x"}), HasSubstr("--target-tokenizer"));
}

using testing::Contains;
using testing::Not;

std::string written(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.decode(tokenizer.encode(text));
}

/// Characters that Unicode gives a meaning, or leaves to private use, and that a line can have.
std::vector<char32_t> assigned_characters() {
  std::vector<char32_t> characters;
  for (char32_t c = 1; c < 0x110000; ++c) {
    const std::string_view category = general_category(c);
    if (c != U'\n' && category != "Cn" && category != "Cs") characters.push_back(c);
  }
  return characters;
}

const std::string kHardLines[] = {
    "10⁴ m² ½ ™ ﬁ Å",
    "two  blanks,   three",
    " leading",
    "   leading",
    "trailing ",
    "trailing   ",
    " ",
    "    ",
    "a\tb\t\tc",
    "\u00A0non\u00A0breaking\u00A0",
    "\u3000wide\u3000",
    "می\u200Cخواهم",
    "zero\u200Bwidth\u200D\uFEFF",
    "❤\uFE0F ❤",
    "e\u0301 é a\u0323\u0302 a\u0302\u0323 \u0301",
    "▁",
    "▁▁ ▁a▁ b▁",
    " ▁",
    "a▁",
    "▅ ▅▅",
    "<s> </s> <unk> <pad> <0x41> <0xE2><0x96><0x81> <term>x</term>",
    "<bt> one <bt>two",
    "ａｂｃ１２３ ｶﾞｷﾞ",
    "inner\rreturn",
    "\u0085\u2028\u2029",
    "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
};

/// The tokenizer of a target whose text is not normalised, with a small vocabulary.
class ExactTokenizer : public testing::TestWithParam<TokenizerType> {
 protected:
  static const Tokenizer& target() {
    static const Tokenizer kTargets[] = {trained(TokenizerType::Unigram),
                                         trained(TokenizerType::Bpe)};
    return kTargets[static_cast<int>(GetParam())];
  }

 private:
  static Tokenizer trained(TokenizerType type) {
    TokenizerConfig config{.vocab_size = 400, .type = type};
    config.user_symbols = {"<bt>", std::string(kTermBegins), std::string(kTermEnds)};
    const auto lines = sample_text(300);
    std::vector<std::string> spaced = sample_text(50);
    for (std::string& line : spaced) line = " " + line + "  " + line + " ";
    return Tokenizer(train_joint_tokenizers(views(lines), views(spaced), config).target, "target");
  }
};

INSTANTIATE_TEST_SUITE_P(Types, ExactTokenizer,
                         testing::Values(TokenizerType::Unigram, TokenizerType::Bpe),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(ExactTokenizer, EveryAssignedCharacterComesBackByteForByte) {
  constexpr std::size_t kInLine = 60;
  const std::vector<char32_t> all = assigned_characters();
  ASSERT_GT(all.size(), 280'000u);
  for (std::size_t i = 0; i < all.size(); i += kInLine) {
    const std::u32string characters(all.data() + i, std::min(kInLine, all.size() - i));
    const std::string line = to_utf8(characters);
    ASSERT_EQ(written(target(), line), line) << "from U+" << std::hex << std::uint32_t{all[i]};
  }
}

TEST_P(ExactTokenizer, MixedLinesComeBackByteForByte) {
  for (const std::string& line : kHardLines) EXPECT_EQ(written(target(), line), line);
  RandomStream random(5);
  const std::vector<char32_t> all = assigned_characters();
  const std::vector<std::string> parts = {" ",      "  ",      "▁",       "\u00A0",  "\u3000",
                                          "\u200C", "\uFE0F",  "e\u0301", "<s>",     "</s>",
                                          "<term>", "</term>", "<bt>",    "the dog", " house",
                                          ".",      "▅",       "\t",      "<0x20>"};
  for (int round = 0; round < 2'000; ++round) {
    std::string line;
    for (auto n = 1 + random.below(12); n > 0; --n) {
      if (random.chance(0.3))
        append_utf8(line, all[random.below(all.size())]);
      else
        line += random.choice(parts);
    }
    ASSERT_EQ(written(target(), line), line);
  }
}

TEST_P(ExactTokenizer, OffsetsLeadThroughTheWholeLine) {
  for (const std::string& line : kHardLines) {
    std::vector<TokenId> ids;
    std::string covered;
    std::size_t end = 0;
    for (const PieceSpan& piece : target().encode_with_offsets(line)) {
      ids.push_back(piece.id);
      EXPECT_EQ(piece.begin, end) << line;
      covered += line.substr(piece.begin, piece.end - piece.begin);
      end = piece.end;
    }
    EXPECT_EQ(ids, target().encode(line)) << line;
    EXPECT_EQ(covered, line);
  }
}

TEST_P(ExactTokenizer, TheMarksOfTermsAreTextThatTheModelCanWrite) {
  const auto ids = target().encode("a <term>b</term>");
  for (const TokenId never : target().never_emitted()) EXPECT_THAT(ids, Not(Contains(never)));
  EXPECT_EQ(target().decode(ids), "a <term>b</term>");
}

TEST_P(ExactTokenizer, ASampledSegmentationHasTheSameText) {
  const auto shared = std::make_shared<const Tokenizer>(target().model_bytes(), "target");
  const SubwordSampler sampler(shared, 0.3);
  for (const std::string& line : kHardLines)
    for (std::uint64_t key = 0; key < 20; ++key)
      EXPECT_EQ(shared->decode(sampler.sample(shared->encode(line), key)), line);
}

/// The fields of a SentencePiece model without its normaliser and the record of escapes.
std::string without_rule(std::string_view model_bytes) {
  WireWriter rest;
  WireReader reader(model_bytes);
  while (const auto field = reader.next())
    if (field->number != 3 && field->number != kEscapesField) rest.stored(*field);
  return rest.message();
}

TEST(TextRule, TheModelsOfTheTwoSidesDifferInTheRuleAlone) {
  const auto lines = sample_text(200);
  for (const Normalization target :
       {Normalization::None, Normalization::Nfc, Normalization::NmtNfkc}) {
    TokenizerConfig config{.vocab_size = 350};
    config.target_normalization = target;
    const JointTokenizers models = train_joint_tokenizers(views(lines), views(lines), config);
    EXPECT_EQ(models.source == models.target, target == Normalization::NmtNfkc);
    EXPECT_TRUE(without_rule(models.source) == without_rule(models.target));
    const TokenizerFacts source_facts = tokenizer_facts(models.source, "source");
    const TokenizerFacts target_facts = tokenizer_facts(models.target, "target");
    EXPECT_EQ(normalization_of(source_facts), "nmt_nfkc");
    EXPECT_EQ(normalization_of(target_facts), name_of(target));
    EXPECT_EQ(source_facts.pieces_hash, target_facts.pieces_hash);
    EXPECT_FALSE(source_facts.keeps_white_space);
    EXPECT_EQ(target_facts.keeps_white_space, target != Normalization::NmtNfkc);
  }
}

TEST(TextRule, EachSideIsNormalisedByItsOwnRule) {
  const auto lines = sample_text(200);
  const JointTokenizers models =
      train_joint_tokenizers(views(lines), views(lines), {.vocab_size = 350});
  const Tokenizer source(models.source, "source"), target(models.target, "target");
  EXPECT_EQ(written(source, " 10⁴  m² ﬁ ａ▁b "), "104 m2 fi a b");
  EXPECT_EQ(written(target, " 10⁴  m² ﬁ ａ▁b "), " 10⁴  m² ﬁ ａ▁b ");
  EXPECT_EQ(source.encode("the blue dog"), target.encode("the blue dog"));
}

TEST(TextRule, OneRuleForBothSidesGivesTheModelOfOneSide) {
  const auto lines = sample_text(200);
  for (const Normalization both : {Normalization::None, Normalization::NmtNfkc}) {
    const TokenizerConfig config{
        .vocab_size = 350, .source_normalization = both, .target_normalization = both};
    const JointTokenizers models = train_joint_tokenizers(views(lines), {}, config);
    EXPECT_TRUE(models.source == models.target);
    EXPECT_TRUE(models.source == train_tokenizer(views(lines), config).model_bytes);
  }
}

TEST(TextRule, NfcComposesMarksInAnyOrderAndKeepsTheRest) {
  TokenizerConfig config{.vocab_size = 350};
  config.source_normalization = Normalization::Nfc;
  const Tokenizer nfc = train_on(sample_text(200), config);
  EXPECT_EQ(written(nfc, "e\u0301 a\u0302\u0323 a\u0323\u0302 \u1EA1\u0302"), "é ậ ậ ậ");
  EXPECT_EQ(written(nfc, "\u212B \u1100\u1161"), "\u00C5 \uAC00");
  EXPECT_EQ(written(nfc, " 10⁴  m² ﬁ ａ▁b\u200C "), " 10⁴  m² ﬁ ａ▁b\u200C ");
}

TEST(TextRule, LowerCaseIsAllThatChangesWithoutNormalisation) {
  TokenizerConfig config{.vocab_size = 350, .lowercase = true};
  const auto lines = sample_text(200);
  const JointTokenizers models = train_joint_tokenizers(views(lines), views(lines), config);
  const Tokenizer target(models.target, "target");
  EXPECT_EQ(written(target, " The  ÉCOLE E\u0301 10⁴ ＡＢ ▁"), " the  école e\u0301 10⁴ ａｂ ▁");
  EXPECT_TRUE(lower_cases(target));
  EXPECT_EQ(normalization_of(target.facts()), "none");
  const Tokenizer source(models.source, "source");
  EXPECT_EQ(written(source, " The  ÉCOLE 10⁴"), "the école 104");
  EXPECT_EQ(normalization_of(source.facts()), "nmt_nfkc");
}

TEST(TextRule, TheTextOfTheTargetTeachesItsOwnSigns) {
  std::vector<std::string> source(200, "the area is 104"), target(200, "die Fläche ist 10⁴ m²");
  const JointTokenizers models =
      train_joint_tokenizers(views(source), views(target), {.vocab_size = 320});
  const Tokenizer tokenizer(models.target, "target");
  EXPECT_NE(tokenizer.id("⁴"), tokenizer.unk_id());
  EXPECT_NE(tokenizer.id("²"), tokenizer.unk_id());
}

TEST(TextRule, AModelWithoutTheRecordReadsAndWritesAsBefore) {
  const Tokenizer plain = train_on(sample_text(200), {.vocab_size = 350});
  EXPECT_EQ(plain.facts().escapes, Escapes::None);
  EXPECT_EQ(written(plain, " a▁b  c "), "a b c");
  TokenizerConfig config{.vocab_size = 350};
  config.source_normalization = Normalization::None;
  const std::string exact = train_on(sample_text(200), config).model_bytes();
  WireWriter without_record;
  WireReader reader(exact);
  while (const auto field = reader.next())
    if (field->number != kEscapesField) without_record.stored(*field);
  EXPECT_EQ(written(Tokenizer(without_record.message(), "identity"), "a▁b"), "a b");
  EXPECT_EQ(written(Tokenizer(exact, "exact"), "a▁b"), "a▁b");
}

TEST(TextRule, ARunOfWhiteSpaceWithoutTextMakesNoTokenizer) {
  TokenizerConfig config{.vocab_size = 300};
  config.source_normalization = Normalization::None;
  for (const std::vector<std::string>& lines :
       {std::vector<std::string>{}, {"", " ", "\t  "}, {"\u00A0\u3000"}, {"▁▁"}, {"▅"}})
    for (const auto type : {TokenizerType::Unigram, TokenizerType::Bpe}) {
      config.type = type;
      EXPECT_ANY_THROW(train_tokenizer(views(lines), config));
    }
  for (const std::string line : {"a", "\x01\x02", " a  ", "a\tb", "\u200B", "▅a▁"})
    EXPECT_GT(train_tokenizer({line}, config).vocab_size, 259) << line;
}

TEST(ChangedLines, ChangedLinesAreCountedAndAnExampleChangesMoreThanWhiteSpace) {
  const Tokenizer plain = train_on(sample_text(200), {.vocab_size = 350});
  const std::vector<std::string> lines = {"the dog", "the dog ", "it is 10⁴ m long", "½"};
  const ChangedLines changed = changed_lines(plain, lines);
  EXPECT_EQ(changed.count, 3);
  EXPECT_EQ(changed.first, 3);
  EXPECT_EQ(changed.example, "\"10⁴\" becomes \"104\"");
  EXPECT_EQ(changed_lines(plain, std::vector<std::string>{"the dog "}).first, 1);
  EXPECT_EQ(changed_lines(plain, std::vector<std::string>{"the dog"}).count, 0);
}

TEST(ChangedLines, AnExampleIsShort) {
  const std::string long_word(500, 'x');
  const std::string example = described_change(long_word + "²", long_word + "2");
  EXPECT_LT(example.size(), 150u);
  EXPECT_EQ(described_change("a  b", "a b"), "\" b\" becomes \"b\"");
  EXPECT_EQ(described_change("m²", "m2"), "\"m²\" becomes \"m2\"");
}

}  // namespace
}  // namespace dragoman
