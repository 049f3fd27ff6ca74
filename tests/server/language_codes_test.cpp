#include "server/language_codes.h"

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

TEST(LanguageCodes, OtherTextsAreNoPairs) {
  for (const char* text : {"", "en", "-", "en-", "-de", "EN-DE", "en_de", "english-german", "en-d",
                           "en-DE", "en-de-fr", "run", "en-de/"})
    EXPECT_EQ(parse_language_pair(text), std::nullopt) << text;
}

TEST(LanguageCodes, ACodeBeginsWithItsLanguage) {
  EXPECT_EQ(language_of("de"), "de");
  EXPECT_EQ(language_of("pt-BR"), "pt");
  EXPECT_EQ(language_of("zh-Hant-TW"), "zh");
}

TEST(LanguageCodes, CodesHaveNames) {
  EXPECT_EQ(language_name("de"), "German");
  EXPECT_EQ(language_name("zh-Hant"), "Chinese (traditional)");
  EXPECT_EQ(language_name("xx"), "xx");
}

}  // namespace
}  // namespace dragoman
