#include "base/language_codes.h"

#include <gtest/gtest.h>

namespace dragoman {

namespace {

TEST(LanguageCodes, PairsMayHaveScriptsAndRegions) {
  EXPECT_EQ(parse_language_pair("en-de"), (LanguagePair{"en", "de"}));
  EXPECT_EQ(parse_language_pair("en-pt-BR"), (LanguagePair{"en", "pt-BR"}));
  EXPECT_EQ(parse_language_pair("pt-BR-en"), (LanguagePair{"pt-BR", "en"}));
  EXPECT_EQ(parse_language_pair("zh-Hant-zh-Hans"), (LanguagePair{"zh-Hant", "zh-Hans"}));
  EXPECT_EQ(parse_language_pair("hsb-es-419"), (LanguagePair{"hsb", "es-419"}));
}

TEST(LanguageCodes, OtherTextsAreNotPairs) {
  for (const char* text : {"", "en", "-", "en-", "-de", "EN-DE", "en_de", "english-german", "en-d",
                           "en-DE", "en-de-fr", "run", "en-de/"})
    EXPECT_EQ(parse_language_pair(text), std::nullopt) << text;
}

TEST(LanguageCodes, CodesOfOthersAreSpelledAsOurs) {
  EXPECT_EQ(normal_code("EN"), "en");
  EXPECT_EQ(normal_code("PT_br"), "pt-BR");
  EXPECT_EQ(normal_code("zh-hant-tw"), "zh-Hant-TW");
  EXPECT_EQ(normal_code("es-419"), "es-419");
  for (const char* text : {"", "e", "english", "en-", "-de", "en de"})
    EXPECT_EQ(normal_code(text), "") << text;
}

TEST(LanguageCodes, TheEndingOfAFileMaySayItsLanguage) {
  EXPECT_EQ(language_of_file("data/train.en"), "en");
  EXPECT_EQ(language_of_file("news.de-en.PT_BR.gz"), "pt-BR");
  EXPECT_EQ(language_of_file("a.hsb.xz"), "hsb");
  for (const char* path :
       {"", "en", "train.txt", "train.src", "a.en.tsv", "a.xx", "dir.en/a", ".en"})
    EXPECT_EQ(language_of_file(path), "") << path;
}

TEST(LanguageCodes, ACodeBeginsWithItsLanguage) {
  EXPECT_EQ(language_of("de"), "de");
  EXPECT_EQ(language_of("pt-BR"), "pt");
  EXPECT_EQ(language_of("zh-Hant-TW"), "zh");
  EXPECT_EQ(language_of("zh"), "zh");
  EXPECT_EQ(language_of("pb"), "pt");
  EXPECT_EQ(language_of("zt"), "zh");
}

TEST(LanguageCodes, ACodeIsFoundInAnyCaseAndByItsOtherName) {
  using Codes = std::vector<std::string>;
  EXPECT_EQ(find_language_code("DE", {"en", "de"}), "de");
  EXPECT_EQ(find_language_code("PT-br", {"en", "pt", "pt-BR"}), "pt-BR");
  EXPECT_EQ(find_language_code("fr", {"en", "de"}), "");
  EXPECT_EQ(find_served_code("en-US", {"de", "en"}), "en");
  EXPECT_EQ(find_served_code("EN-us", {"en", "en-US"}), "en-US");
  EXPECT_EQ(find_served_code("PT", {"pt-BR"}), "pt-BR");
  EXPECT_EQ(find_served_code("fr-CA", {"en", "de"}), "");
  EXPECT_EQ(find_language_code("", {"en", "de"}), "") << "no code has an empty other name";
  EXPECT_EQ(find_language_code("pt", {"pt-BR"}), "") << "a region is not another name";
  for (const auto& [one, other] :
       {std::pair("pb", "pt-BR"), std::pair("zh", "zh-Hans"), std::pair("zt", "zh-Hant")}) {
    EXPECT_EQ(find_language_code(one, {"en", other}), other);
    EXPECT_EQ(find_language_code(other, {"en", one}), one);
    EXPECT_EQ(find_language_code(one, Codes({other, one})), one) << "the same goes first";
    EXPECT_EQ(find_language_code(other, Codes({one, other})), other);
  }
  for (const auto& [region, script] :
       {std::pair("zh-CN", "zh-Hans"), std::pair("zh-TW", "zh-Hant"), std::pair("ZH-HK", "zt")})
    EXPECT_EQ(find_language_code(region, {"en", script}), script);
  EXPECT_EQ(find_language_code("zh-CN", {"zh-Hans", "zh-CN"}), "zh-CN");
}

TEST(LanguageCodes, CodesHaveNames) {
  EXPECT_EQ(language_name("de"), "German");
  EXPECT_EQ(language_name("zh-Hant"), "Chinese (traditional)");
  EXPECT_EQ(language_name("xx"), "xx");
}

}  // namespace
}  // namespace dragoman
