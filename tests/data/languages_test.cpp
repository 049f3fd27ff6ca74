#include "data/languages.h"

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
  EXPECT_EQ(find_language_code("", {"en", "de"}), "") << "no code has an empty one for its other";
  EXPECT_EQ(find_language_code("pt", {"pt-BR"}), "") << "a region is no other name";
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

const std::vector<std::string> kServed = {"de", "en", "fr"};

TEST(LanguageDetector, SentencesAreFoundWithConfidence) {
  const std::vector<std::pair<std::string, std::string>> sentences = {
      {"Two men are playing football in the park.", "en"},
      {"Zwei M\u00e4nner spielen Fu\u00dfball im Park.", "de"},
      {"Bonjour, comment allez-vous aujourd'hui ?", "fr"}};
  for (const auto& [text, language] : sentences) {
    const DetectedLanguage found = detect_language(text, kServed);
    EXPECT_EQ(found.language, language) << text;
    EXPECT_GT(found.confidence, 90) << text;
    EXPECT_LE(found.confidence, 100) << text;
  }
}

TEST(LanguageDetector, AWordIsFoundWithDoubt) {
  for (const auto& [text, language] : {std::pair("Hallo", "de"), std::pair("Hund", "de"),
                                       std::pair("Hello", "en"), std::pair("dog", "en")}) {
    const DetectedLanguage found = detect_language(text, kServed);
    EXPECT_EQ(found.language, language) << text;
    EXPECT_GT(found.confidence, 0) << text;
    EXPECT_LT(found.confidence, 50) << text;
  }
}

TEST(LanguageDetector, OnlyLanguagesThatWereAskedForAreFound) {
  // Without a hint CLD2 takes this for Norwegian.
  EXPECT_EQ(detect_language("Ein Mann geht.", kServed).language, "de");
  const DetectedLanguage none = detect_language("Bonjour, comment allez-vous ?", {"de", "en"});
  EXPECT_EQ(none.language, "de");
  EXPECT_LT(none.confidence, 50);
}

TEST(LanguageDetector, PortugueseIsFoundUnderTheCodeOfBrazilToo) {
  const DetectedLanguage found =
      detect_language("Os meninos brincam no parque com o cachorro.", {"en", "pb"});
  EXPECT_EQ(found.language, "pb");
  EXPECT_GT(found.confidence, 0);
}

TEST(LanguageDetector, JavaneseIsFoundUnderItsCode) {
  const std::string text =
      "Aku arep lunga menyang pasar karo ibuku esuk iki, amarga kita kudu tuku beras lan iwak.";
  EXPECT_EQ(detect_language(text, {"en", "jv"}).language, "jv");
}

TEST(LanguageDetector, WithoutWordsTheFirstLanguageIsGivenWithoutConfidence) {
  for (const char* text : {"", "12345", "\n", "\u2603"}) {
    const DetectedLanguage found = detect_language(text, kServed);
    EXPECT_EQ(found.language, "de") << text;
    EXPECT_EQ(found.confidence, 0) << text;
  }
}

TEST(LanguageDetector, ALongTextIsCutAtACharacter) {
  std::string text;
  while (text.size() < 300'000) text += "\u00e4\u00f6\u00fc Stra\u00dfe, ";
  EXPECT_EQ(detect_language(text, kServed).language, "de");
  EXPECT_EQ(detect_language("x" + text, kServed).language, "de");
}

}  // namespace

}  // namespace dragoman
