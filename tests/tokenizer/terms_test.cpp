#include "tokenizer/terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/error.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

Terms terms_of(const std::string& text) {
  const ScratchFile file("terms.tsv", text);
  return Terms(file.path());
}

std::vector<std::string> texts(const std::vector<RequiredText>& required) {
  std::vector<std::string> list;
  for (const RequiredText& text : required) list.push_back(text.text);
  return list;
}

TEST(Terms, TermsAreFoundAsWholeWordsTheLongestFirst) {
  const Terms terms =
      terms_of("river bank\tFlussufer\nbank\tBank\nBank of England\tBoE\n\nÄrger\tx\n");
  EXPECT_THAT(texts(terms.find("the bank at the river bank")), ElementsAre("Bank", "Flussufer"));
  EXPECT_THAT(texts(terms.find("banks, snowbank")), IsEmpty());
  EXPECT_THAT(texts(terms.find("(Bank) BANK-account")), ElementsAre("Bank", "Bank"));
  EXPECT_THAT(texts(terms.find("Bank of England, bank of england")), ElementsAre("BoE", "Bank"));
  EXPECT_THAT(texts(terms.find("ärger Ärger")), ElementsAre("x")) << "a capital asks for one";
  EXPECT_THAT(terms.find("Ärger, bank"),
              ElementsAre(RequiredText{0, 6, "x", true}, RequiredText{8, 12, "Bank", true}));
}

TEST(Terms, AByteOrderMarkAndCommentsAreNotTerms) {
  const Terms terms = terms_of(
      "\xEF\xBB\xBF"
      "cat\tKatze\n# dog\tHund\n#hat\n\\#1\tNr. 1\r\n");
  EXPECT_THAT(texts(terms.find("cat dog #1")), ElementsAre("Katze", "Nr. 1"));
}

TEST(Terms, ABlankTermAndOneOfSeveralLinesAreRefused) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  for (const Pairs& pairs : {Pairs{{" ", "Hund"}}, Pairs{{"dog", " "}}, Pairs{{"dog", "der\nHund"}},
                             Pairs{{std::string("dog\0", 4), "Hund"}}})
    EXPECT_THROW(Terms{pairs}, Error) << pairs.front().second;
}

TEST(Terms, ASourceTermWithTwoTargetTermsIsRefused) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const auto message = [](const Pairs& pairs) { return message_of<Error>([&] { Terms{pairs}; }); };
  EXPECT_THAT(message({{"man", "Mann"}, {"dog", "Hund"}, {" man", "Herr"}}),
              Names("'man' ... 'Mann' ... 'Herr'"));
  EXPECT_EQ(message({{"man", "Mann"}, {"man", "Mann "}, {"Man", "Herr"}}), "");
}

TEST(Terms, TermsAreFoundInTextWithoutSpaces) {
  const Terms terms = terms_of("東京\tTokyo\n");
  EXPECT_THAT(texts(terms.find("私は東京に住む")), ElementsAre("Tokyo"));
}

TEST(Terms, TheLongestTermWhoseSpellingAndEndFitCounts) {
  const Terms terms({{"a b C", "1"},
                     {"a b cd", "2"},
                     {"A b", "3"},
                     {"a", "4"},
                     {"NATO", "6"},
                     {"nato", "7"},
                     {"ab", "8"},
                     {"AB", "9"}});
  EXPECT_THAT(texts(terms.find("a b C")), ElementsAre("1"));
  EXPECT_THAT(texts(terms.find("A b c")), ElementsAre("3"));
  EXPECT_THAT(texts(terms.find("a b c")), ElementsAre("4"));
  EXPECT_THAT(texts(terms.find("A B CD")), ElementsAre("2"));
  EXPECT_THAT(texts(terms.find("a b cde")), ElementsAre("4"));
  EXPECT_THAT(texts(terms.find("NATO, Nato, AB")), ElementsAre("6", "7", "8"))
      << "of two that fit, the first";
}

/// The seconds of a search for the terms.
double seconds_of(const std::vector<std::pair<std::string, std::string>>& list,
                  const std::string& text, std::size_t expected) {
  const Terms terms(list);
  const std::clock_t begin = std::clock();
  EXPECT_EQ(terms.find(text).size(), expected);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Terms, ManyTermsThatBeginAlikeTakeNoLonger) {
  constexpr int kTerms = 50'000, kWords = 20'000;
  std::vector<std::pair<std::string, std::string>> words, phrases, respelled;
  for (int i = 0; i < kTerms; ++i) {
    words.emplace_back(join_text("a", i), "b");
    phrases.emplace_back(join_text("a ", i), "b");
    respelled.emplace_back("A", "b");
  }
  std::string text;
  for (int i = 0; i < kWords; ++i) text += "a ";
  EXPECT_LT(seconds_of(words, text, 0), 0.3);
  EXPECT_LT(seconds_of(phrases, text, 0), 0.3);
  EXPECT_LT(seconds_of(respelled, text, 0), 0.3);
}

TEST(Terms, ACompressedFileIsReadAsIfItWerePlain) {
  constexpr char kGzipped[] =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4a\xcc\xcb\xe6\x74\x02\x12\x5c\x00"
      "\x95\xf4\x63\x93\x0a\x00\x00\x00";  // "bank\tBank\n"
  const Terms terms = terms_of({kGzipped, sizeof kGzipped - 1});
  EXPECT_THAT(texts(terms.find("the bank")), ElementsAre("Bank"));
}

TEST(Terms, ABadFileIsNamedWithItsLine) {
  using std::string_literals::operator""s;
  for (const std::string& text : {"a\tb\nno tab\n"s, "a\tb\n\tb\n"s, "a\tb\na\t\n"s,
                                  "a\tb\na\tb\tc\n"s, "a\tb\na\tc\n"s, "a\tb\nc\td\0e\n"s}) {
    const ScratchFile file("terms.tsv", text);
    EXPECT_THAT([&] { Terms(file.path()); },
                ThrowsMessage<Error>(HasSubstr(file.path().string() + ":2: ")))
        << text;
  }
  EXPECT_THAT(texts(terms_of("a\tb\na\tb\n").find("a")), ElementsAre("b"));
  const ScratchFile file("terms.tsv", "a\tb\n\xFF\tb\n");
  EXPECT_THAT(
      [&] { Terms(file.path()); },
      ThrowsMessage<Error>(AllOf(HasSubstr(file.path().string() + ":2:"), HasSubstr("UTF-8"))));
}

TEST(Terms, MissingTermsAreNamed) {
  const std::vector<RequiredText> required = {{0, 1, "a b"}, {2, 3, "7"}, {4, 5, "7"}};
  EXPECT_THAT(unmet_texts(required, "a b 7 7"), IsEmpty());
  EXPECT_THAT(texts(unmet_texts(required, "a  b 7")), ElementsAre("a b", "7"));
  EXPECT_THAT(unmet_texts(required, "(7) a b, 7."), IsEmpty());
  EXPECT_THAT(texts(unmet_texts(required, "a b 77 B7")), ElementsAre("7", "7"));
  EXPECT_THAT(unmet_texts({{0, 1, "1\u202f000", true}}, "1 000"), IsEmpty()) << "a term";
}

TEST(Terms, ATextThatIsCopiedStandsByteForByte) {
  const auto is_met = [](const std::string& text, const std::string& translation) {
    return unmet_texts({{0, 1, text}}, translation).empty();
  };
  EXPECT_TRUE(is_met("https://example.org", "https://example.org is it."));
  EXPECT_FALSE(is_met("https://example.org", "Https://example.org is it."));
  EXPECT_FALSE(is_met("1\u202f000", "1 000"));
  EXPECT_TRUE(is_met("1\u202f000", "1\u202f000"));
  EXPECT_FALSE(is_met("10", "10⁴"));
  EXPECT_FALSE(is_met("10⁴", "104"));
  EXPECT_TRUE(is_met("10⁴", "10⁴ times"));
}

TEST(Terms, ATagThatIsClosedBeforeItOpensIsUnmet) {
  const std::vector<RequiredText> required = {{0, 3, "<b>"}, {4, 8, "</b>"}, {9, 14, "<br/>"}};
  EXPECT_THAT(unmet_texts(required, "<b> a </b> <br/>"), IsEmpty());
  EXPECT_THAT(texts(unmet_texts(required, "</b> a <b> <br/>")), ElementsAre("<b>", "</b>"));
  EXPECT_THAT(texts(unmet_texts(required, "<b> a <br/>")), ElementsAre("</b>"));
  const std::vector<RequiredText> turned = {{0, 4, "</i>"}, {5, 8, "<i>"}};
  EXPECT_THAT(unmet_texts(turned, "</i> a <i>"), IsEmpty()) << "as in the source";
}

TEST(Terms, ATermMayHaveAnEndingOrTheSentencesCapital) {
  const auto is_met = [](const std::string& term, const std::string& translation) {
    return unmet_texts({{0, 1, term, true}}, translation).empty();
  };
  EXPECT_TRUE(is_met("Hund", "mit zwei Hunden"));
  EXPECT_FALSE(is_met("Hund", "eine Hundeleine"));
  EXPECT_FALSE(is_met("Hund", "ein Schweinehund"));
  EXPECT_FALSE(is_met("ab", "abcd")) << "no ending longer than the term, less a letter";
  EXPECT_TRUE(is_met("ein Hund", "Ein Hund bellt"));
  EXPECT_FALSE(is_met("ein Hund", "Dort bellt Ein Hund"));
  EXPECT_FALSE(is_met("Ein Hund", "ein Hund bellt"));
}

const std::vector<RequiredText> kTerms = {{4, 7, "Hund", true}, {12, 15, "Katze", true}};

TEST(TermMarks, TermsAreWrittenAfterTheirSources) {
  EXPECT_EQ(MarkedText("the dog, a cat.").text(), "the dog, a cat.");
  EXPECT_EQ(MarkedText("the dog and cat.", marks_of(kTerms)).text(),
            "the dog<term> Hund</term> and cat<term> Katze</term>.");
}

TEST(TermMarks, OffsetsAreFoundInBothTexts) {
  const std::string text = "the dog and cat.";
  const MarkedText marked(text, marks_of(kTerms));
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(marked.text()[marked.marked_offset(i)], text[i]) << i;
    EXPECT_EQ(marked.original_offset(marked.marked_offset(i)), i);
  }
  EXPECT_EQ(marked.marked_offset(text.size()), marked.text().size());
  EXPECT_EQ(marked.text().substr(marked.marked_offset(4),
                                 marked.marked_offset(7) - marked.marked_offset(4)),
            "dog<term> Hund</term>");
  EXPECT_EQ(marked.original_offset(marked.text().find("Hund")), 6u);
  EXPECT_EQ(marked.original_offset(marked.text().find("Katze")), 14u);
}

TEST(TermMarks, ATextIsReadWithOtherChanges) {
  const std::string text = "ab\u00E9 cd, ef";
  const std::vector<TextChange> changes = {
      {2, 4, "e"}, {5, 7, ""}, {9, 11, "gh ij"}, {11, 11, "!"}};
  const MarkedText marked(text, changes);
  EXPECT_EQ(marked.text(), "abe , gh ij!");
  for (const std::size_t original : {0, 1, 2, 4, 7, 8, 9, 11})
    EXPECT_EQ(marked.original_offset(marked.marked_offset(original)), original) << original;
  EXPECT_EQ(marked.marked_offset(5), 4u);
  EXPECT_EQ(marked.original_offset(4), 7u) << "what was left out has no byte";
  for (const std::size_t offset : {6, 8, 10}) EXPECT_EQ(marked.original_offset(offset), 9u);
}

TEST(TermMarks, MarksArePiecesAndLeaveTheOtherWordsUnchanged) {
  TokenizerConfig config{.vocab_size = 300};
  EXPECT_FALSE(has_term_marks(train_on(sample_text(300), config)));
  config.user_symbols = {std::string(kTermBegins), std::string(kTermEnds)};
  const Tokenizer tokenizer = train_on(sample_text(300), config);
  ASSERT_TRUE(has_term_marks(tokenizer));
  std::vector<TokenId> expected = tokenizer.encode("the dog");
  expected.push_back(tokenizer.id(kTermBegins));
  for (const TokenId id : tokenizer.encode("house")) expected.push_back(id);
  expected.push_back(tokenizer.id(kTermEnds));
  for (const TokenId id : tokenizer.encode("sees")) expected.push_back(id);
  EXPECT_EQ(tokenizer.encode("the dog<term> house</term> sees"), expected);
}

}  // namespace
}  // namespace dragoman
