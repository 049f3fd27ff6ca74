#include "data/languages.h"

#include <gtest/gtest.h>

namespace dragoman {

namespace {

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
