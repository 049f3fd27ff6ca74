#include "inference/demands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::filesystem::path written(const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) /
                                     testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::string> texts(const std::vector<RequiredText>& required) {
  std::vector<std::string> list;
  for (const RequiredText& text : required) list.push_back(text.text);
  return list;
}

std::vector<std::string> protected_in(const std::string& source) {
  const std::vector<RequiredText> found = protected_texts(source);
  for (const RequiredText& text : found)
    EXPECT_EQ(source.substr(text.begin, text.end - text.begin), text.text);
  return texts(found);
}

TEST(Terms, StandAsWholeWordsTheLongestFirst) {
  const Terms terms(
      written("river bank\tFlussufer\nbank\tBank\nBank of England\tBoE\n\nÄrger\tx\n"));
  EXPECT_THAT(texts(terms.find("the bank at the river bank")), ElementsAre("Bank", "Flussufer"));
  EXPECT_THAT(texts(terms.find("banks, snowbank")), IsEmpty());
  EXPECT_THAT(texts(terms.find("(Bank) BANK-account")), ElementsAre("Bank", "Bank"));
  EXPECT_THAT(texts(terms.find("Bank of England, bank of england")), ElementsAre("BoE", "Bank"));
  EXPECT_THAT(texts(terms.find("ärger Ärger")), ElementsAre("x")) << "a capital asks for one";
  EXPECT_THAT(terms.find("Ärger, bank"),
              ElementsAre(RequiredText{0, 6, "x", true}, RequiredText{8, 12, "Bank", true}));
}

TEST(Terms, AByteOrderMarkAndCommentsAreNoTerms) {
  const Terms terms(
      written("\xEF\xBB\xBF"
              "cat\tKatze\n# dog\tHund\n#hat\n\\#1\tNr. 1\r\n"));
  EXPECT_THAT(texts(terms.find("cat dog #1")), ElementsAre("Katze", "Nr. 1"));
}

TEST(Terms, AreFoundInTextWithoutSpaces) {
  const Terms terms(written("東京\tTokyo\n"));
  EXPECT_THAT(texts(terms.find("私は東京に住む")), ElementsAre("Tokyo"));
}

TEST(Terms, ABadFileIsNamedWithItsLine) {
  for (const std::string text :
       {"a\tb\nno tab\n", "a\tb\n\tb\n", "a\tb\na\t\n", "a\tb\na\tb\tc\n"}) {
    const auto path = written(text);
    try {
      const Terms terms(path);
      FAIL() << text;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path.string() + ":2: ")) << text;
    }
  }
  EXPECT_THROW(Terms(written("\xFF\tb\n")), Error);
}

TEST(Protection, FindsNumbersAddressesAndPlaceholders) {
  EXPECT_THAT(protected_in("It costs 3.50, or 1,000 in 2020-01-31 at 12:30."),
              ElementsAre("3.50", "1,000", "2020-01-31", "12:30"));
  EXPECT_THAT(protected_in("See https://example.org/a?b=1&c=(2). Or www.example.org!"),
              ElementsAre("https://example.org/a?b=1&c=(2", "www.example.org"));
  EXPECT_THAT(protected_in("Write to first.last+tag@mail.example.org, please."),
              ElementsAre("first.last+tag@mail.example.org"));
  EXPECT_THAT(protected_in("Hello {name}, ${user}: %s of %1$d <b>bold</b> &amp; {not this}"),
              ElementsAre("{name}", "${user}", "%s", "%1$d", "<b>", "</b>", "&amp;"));
  EXPECT_THAT(protected_in("H2O and B2B, the 20th, 50% of them"), ElementsAre("50"));
  EXPECT_THAT(protected_in(""), IsEmpty());
  EXPECT_EQ(protected_in(std::string(100'000, '7')).size(), 1u);
}

TEST(Demands, NumbersAreWrittenAsInTheTargetsLanguage) {
  const Demands demands{.terms = {}, .protects = true, .numbers = NumberConversion("en-de")};
  EXPECT_THAT(texts(demands.of("6,263 of 1,234,567.25 and 2.5 at 12:30, {n}")),
              ElementsAre("6.263", "1.234.567,25", "2,5", "12:30", "{n}"));
  const Demands back{.terms = {}, .protects = true, .numbers = NumberConversion("fr-en")};
  EXPECT_THAT(texts(back.of("6\u202f263,5 et 1\u00a0000")), ElementsAre("6,263.5", "1,000"));
}

TEST(Demands, ATermCountsWhereBothWouldStand) {
  const Demands demands{.terms = Terms(written("section 5\tAbschnitt 5\n")), .protects = true};
  EXPECT_THAT(texts(demands.of("Section 5 of 12")), ElementsAre("Abschnitt 5", "12"));
}

TEST(Demands, WhatIsMissingIsTold) {
  const std::vector<RequiredText> required = {{0, 1, "a b"}, {2, 3, "7"}, {4, 5, "7"}};
  EXPECT_THAT(missing_texts(required, "a b 7 7"), IsEmpty());
  EXPECT_THAT(texts(missing_texts(required, "a  b 7")), ElementsAre("a b", "7"));
  EXPECT_THAT(missing_texts(required, "(7) a b, 7."), IsEmpty());
  EXPECT_THAT(texts(missing_texts(required, "a b 77 B7")), ElementsAre("7", "7"));
  EXPECT_THAT(missing_texts({{0, 1, "1\u202f000"}}, "1 000"), IsEmpty());
}

TEST(Demands, ATermMayHaveAnEndingOrTheSentencesCapital) {
  const auto is_there = [](const std::string& term, const std::string& translation) {
    return missing_texts({{0, 1, term, true}}, translation).empty();
  };
  EXPECT_TRUE(is_there("Hund", "mit zwei Hunden"));
  EXPECT_FALSE(is_there("Hund", "eine Hundeleine"));
  EXPECT_FALSE(is_there("Hund", "ein Schweinehund"));
  EXPECT_FALSE(is_there("ab", "abcd")) << "no ending longer than the term, less a letter";
  EXPECT_TRUE(is_there("ein Hund", "Ein Hund bellt"));
  EXPECT_FALSE(is_there("ein Hund", "Dort bellt Ein Hund"));
  EXPECT_FALSE(is_there("Ein Hund", "ein Hund bellt"));
}

}  // namespace
}  // namespace dragoman
