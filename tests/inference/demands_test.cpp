#include "inference/demands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NumberFormat, TextThatIsNotANumberOfTheSourceLanguageStays) {
  const NumberConversion conversion("en-de");
  for (const std::string text : {"", "7", "2020", "1,23", "1.2.3", "1,2345", "1234,567", "3.", "a",
                                 "12:30", "2020-01-31", "1,234,56", "http://a.b/1,234"})
    EXPECT_EQ(conversion(text), text);
}

TEST(NumberFormat, GroupsAndDecimalsChange) {
  EXPECT_EQ(NumberConversion("en-de")("1,234.5"), "1.234,5");
  EXPECT_EQ(NumberConversion("de-en")("1.234,5"), "1,234.5");
  EXPECT_EQ(NumberConversion("en-cs")("1,234,567"), "1\u00a0234\u00a0567");
  EXPECT_EQ(NumberConversion("cs-fr")("1\u202f234,5"), "1\u202f234,5");
  EXPECT_EQ(NumberConversion("en-ja")("1,234.5"), "1,234.5");
}

TEST(NumberFormat, UnknownLanguagesAreNamedWithTheKnownOnes) {
  for (const std::string pair : {"", "de", "en-", "-de", "en-xx", "EN-de", "en-de-fr"})
    EXPECT_THAT([&] { NumberConversion{pair}; },
                testing::ThrowsMessage<UsageError>(
                    testing::HasSubstr("--number-format " + pair + ": must be two of")));
}

TEST(NumberFormat, AWrongValueIsRefusedBeforeTheLackOfProtect) {
  const auto message = [](const std::string& format) {
    return message_of<UsageError>([&] { demands_of({.number_format = format}); });
  };
  EXPECT_THAT(message("english"), Names("--number-format english ... en-de"));
  EXPECT_THAT(message("en-de"), Names("--number-format: ... --protect"));
}

TEST(NumberFormat, TheModelMayNameTheLanguages) {
  const TextRecord record = {.source_language = "en-GB", .target_language = "pt-BR"};
  EXPECT_EQ(number_format_of("auto", record), "en-pt");
  EXPECT_EQ(number_format_of("auto", {.source_language = "pb", .target_language = "zt"}), "pt-zh");
  EXPECT_EQ(number_format_of("de-en", record), "de-en");
  EXPECT_EQ(number_format_of("", record), "");
  EXPECT_THROW(number_format_of("auto", {.source_language = "en"}), UsageError);
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

TEST(Protection, NumbersAddressesAndPlaceholdersAreFound) {
  EXPECT_THAT(protected_in("It costs 3.50, or 1,000 in 2020-01-31 at 12:30."),
              ElementsAre("3.50", "1,000", "2020-01-31", "12:30"));
  EXPECT_THAT(protected_in("See https://example.org/a?b=1&c=(2). Or www.example.org!"),
              ElementsAre("https://example.org/a?b=1&c=(2", "www.example.org"));
  EXPECT_THAT(protected_in("Write to first.last+tag@mail.example.org, please."),
              ElementsAre("first.last+tag@mail.example.org"));
  EXPECT_THAT(protected_in("Hello {name}, ${user}: %s of %1$d <b>bold</b> &amp; {not this}"),
              ElementsAre("{name}", "${user}", "%s", "%1$d", "<b>", "</b>", "&amp;"));
  EXPECT_THAT(protected_in("H2O and B2B, the 20th, 50% of them"), ElementsAre("50"));
  EXPECT_THAT(protected_in("10⁴ of 2½, 1.5x, ä10, 5人, a_10"), ElementsAre("10⁴", "2½", "5"));
  EXPECT_THAT(protected_in(""), IsEmpty());
  EXPECT_EQ(protected_in(std::string(100'000, '7')).size(), 1u);
}

TEST(Demands, NumbersAreWrittenAsInTheTargetsLanguage) {
  const Demands demands{.protects = true, .numbers = NumberConversion("en-de")};
  EXPECT_THAT(texts(demands.of("6,263 of 1,234,567.25 and 2.5 at 12:30, {n}")),
              ElementsAre("6.263", "1.234.567,25", "2,5", "12:30", "{n}"));
  const Demands back{.protects = true, .numbers = NumberConversion("fr-en")};
  EXPECT_THAT(texts(back.of("6\u202f263,5 et 1\u00a0000")), ElementsAre("6,263.5", "1,000"));
}

TEST(Demands, ATermComesBeforeAProtectedNumberInIt) {
  const std::vector<std::pair<std::string, std::string>> terms = {{"section 5", "Abschnitt 5"}};
  const Demands demands{.terms = Terms(terms), .protects = true};
  EXPECT_THAT(texts(demands.of("Section 5 of 12")), ElementsAre("Abschnitt 5", "12"));
}

}  // namespace
}  // namespace dragoman
