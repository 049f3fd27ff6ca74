#include "inference/unseen_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/machine.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CharacterSet characters_of(std::string_view text) {
  CharacterSet set;
  set.add_all(text);
  return set;
}

/// English with plain quotes.
const CharacterSet& english() {
  static const CharacterSet all =
      characters_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz0123456789.,:;!?'\"()-");
  return all;
}

std::string read(const std::string& text, const CharacterSet& seen = english()) {
  return MarkedText(text, unseen_text(text, seen).changes).text();
}

std::vector<std::string> copied(const std::string& text, const CharacterSet& seen = english()) {
  std::vector<std::string> texts;
  for (const CopiedText& copy : unseen_text(text, seen).copies)
    texts.push_back(text.substr(copy.begin, copy.end - copy.begin));
  return texts;
}

TEST(UnseenText, ATextThatTheModelHasSeenIsReadAsItIs) {
  for (const std::string text : {"", "Hello, \"world\" (42)!", "a  b"}) {
    const UnseenText unseen = unseen_text(text, english());
    EXPECT_THAT(unseen.changes, IsEmpty());
    EXPECT_THAT(unseen.copies, IsEmpty());
    EXPECT_FALSE(unseen.is_all);
  }
  EXPECT_THAT(unseen_text("e\u0301t\u00E9", characters_of("et\u0301\u00E9")).changes, IsEmpty())
      << "no form is better than one that was seen";
}

TEST(UnseenText, ALetterIsReadInAnotherFormThatWasSeen) {
  const CharacterSet composed = characters_of("ca\u00E9f "),
                     decomposed = characters_of("cafe\u0301");
  EXPECT_EQ(read("cafe\u0301", composed), "caf\u00E9");
  EXPECT_EQ(read("caf\u00E9", decomposed), "cafe\u0301");
  EXPECT_EQ(read("\uFB01sh"), "fish");
  EXPECT_EQ(read("\uFF28\uFF49\uFF01"), "Hi!");
  EXPECT_EQ(read("na\u00EFve Dvor\u030C\u00E1k \u0141\u00F3d\u017A Stra\u00DFe"),
            "naive Dvorak Lodz Strasse");
  EXPECT_EQ(read("HELLO", characters_of("helo")), "hello");
  EXPECT_EQ(read("\u00C9T\u00C9", characters_of("etE")), "EtE");
  EXPECT_EQ(read("\u00C9", characters_of("\u00E9e")), "\u00E9") << "the other case comes first";
  EXPECT_EQ(read("\u0915\u0941", characters_of("\u0915")), "\u0915\u0941")
      << "another vowel would be another word";
  EXPECT_THAT(copied("\uFB01sh na\u00EFve"), IsEmpty());
}

TEST(UnseenText, QuotesAndDashesStandForEachOther) {
  EXPECT_EQ(read("\u201CIt\u2019s\u201D \u2013 \u201Eso\u201C\u2026 \u00ABa\u00BB \u2212\u0035"),
            "\"It's\" - \"so\"... \"a\" -5");
  const CharacterSet typographic = characters_of("abcdeitns \u201C\u201D\u2019\u2013");
  EXPECT_EQ(read("\"it's\" - \"a\"", typographic), "\u201Cit\u2019s\u201D \u2013 \u201Ca\u201D");
  EXPECT_EQ(read("a\u00A0b\u3000c\u200Bd"), "a b cd") << "other blanks, and none";
}

TEST(UnseenText, ASignIsCopiedAlone) {
  EXPECT_THAT(copied("I like \U0001F355 a lot \u2660!"), ElementsAre("\U0001F355", "\u2660"));
  EXPECT_EQ(read("I like \U0001F355 a lot \u2660!"), "I like a lot !");
  EXPECT_EQ(read("\U0001F355 is good"), "is good");
  EXPECT_EQ(read("good \U0001F355"), "good");
  EXPECT_EQ(read("10\u2074 m\u00B2 5\u20AC"), "10 m 5");
  EXPECT_THAT(copied("10\u2074 m\u00B2 10\u207F 5\u20AC"),
              ElementsAre("\u2074", "\u00B2", "\u207F", "\u20AC"));
  // A family, a hand with a skin colour, a flag, and a heart with a variation selector.
  const std::string emoji =
      "\U0001F468\u200D\U0001F469\u200D\U0001F467 \U0001F44D\U0001F3FD\U0001F1E9\U0001F1EA "
      "\u2764\uFE0F";
  EXPECT_THAT(copied("a " + emoji + " b"), ElementsAre(emoji));
  EXPECT_EQ(read("a " + emoji + " b"), "a b");
  CharacterSet with_heart = english();
  with_heart.add(U'\u2764');
  EXPECT_EQ(read("I \u2764\uFE0F it", with_heart), "I \u2764 it");
}

TEST(UnseenText, AWordOfAnotherScriptIsCopied) {
  EXPECT_THAT(copied("I saw \u041B\u0435\u0432 \u0422\u043E\u043B\u0441\u0442\u043E\u0439, and "
                     "\u0391\u03B8\u03AE\u03BD\u03B1."),
              ElementsAre("\u041B\u0435\u0432 \u0422\u043E\u043B\u0441\u0442\u043E\u0439",
                          "\u0391\u03B8\u03AE\u03BD\u03B1"));
  EXPECT_EQ(read("I saw \u041B\u0435\u0432, and \u0391\u03B8\u03AE."), "I saw X, and Y.");
  EXPECT_EQ(read("Xaver saw \u041B\u0435\u0432."), "Xaver saw Y.") << "X is taken";
  // One letter that has no form takes its word along, and not the one of another script.
  CharacterSet some = english();
  some.add_all("\u043C\u043E\u0441\u043A\u0432\u0430");
  EXPECT_THAT(copied("\u041C\u043E\u0441\u043A\u0432\u0430", some), IsEmpty()) << "a capital";
  EXPECT_THAT(copied("\u043C\u043E\u0441\u0442ab", some), ElementsAre("\u043C\u043E\u0441\u0442"));
  EXPECT_THAT(copied("the \u018Fliyev family"), ElementsAre("\u018Fliyev"));
}

TEST(UnseenText, WithoutBlanksOnlyTheUnseenIsCopied) {
  const CharacterSet japanese = characters_of("\u3092\u98DF\u3079\u305FX");
  EXPECT_THAT(copied("\u6AB8\u6AAC\u3092\u98DF\u3079\u305F", japanese),
              ElementsAre("\u6AB8\u6AAC"));
  EXPECT_EQ(read("\u6AB8\u6AAC\u3092\u98DF\u3079\u305F", japanese), "X\u3092\u98DF\u3079\u305F");
  EXPECT_THAT(copied("\u6771\u4EAC a"), ElementsAre("\u6771\u4EAC"));
  EXPECT_EQ(read("\u6AB8\u3092", characters_of("\u3092")), "\u6AB8\u3092")
      << "nothing can stand in";
}

TEST(UnseenText, ANumberIsCopiedWhole) {
  const CharacterSet few = characters_of("ABXY abcdehilnorst.,123456");
  EXPECT_THAT(copied("in 1975 or 3,700.50 at 12.30", few),
              ElementsAre("1975", "3,700.50", "12.30"));
  EXPECT_EQ(read("in 1975 or 13", few), "in 23 or 13") << "digits stand in";
  EXPECT_EQ(read("\uFF11\uFF12"), "12");
  EXPECT_THAT(copied("\u0663\u0664 a"), ElementsAre("\u0663\u0664"));
}

TEST(UnseenText, ATextWithoutAnythingElseIsAllCopied) {
  const auto is_all = [](const char* text) { return unseen_text(text, english()).is_all; };
  EXPECT_TRUE(is_all("\u2713"));
  EXPECT_TRUE(is_all("\u041C\u043E\u0441\u043A\u0432\u0430!"));
  EXPECT_TRUE(is_all("(\u041C) - \U0001F355"));
  EXPECT_FALSE(is_all("\u041C\u043E\u0441\u043A\u0432\u0430 42"));
  EXPECT_FALSE(is_all("\u201C!\u201D"));
}

TEST(UnseenText, ALongRunOfMarksTakesNoQuadraticTime) {
  std::string text = "one a";
  for (int i = 0; i < 100'000; ++i) text += i % 2 == 0 ? "\u0323" : "\u0301";
  CharacterSet seen;
  seen.add_all("one aX");
  const Stopwatch watch;
  EXPECT_FALSE(unseen_text(text, seen).copies.empty());
  EXPECT_LT(watch.seconds(), 5);
}

TEST(UnseenText, StretchesAreKept) {
  const std::string text = "<\u2713> na\u00EFve \u041C \u041C";
  const std::vector<ByteRange> kept = {{0, 5}, {6, 12}, {13, 15}};
  const UnseenText unseen = unseen_text(text, english(), kept);
  EXPECT_EQ(MarkedText(text, unseen.changes).text(), "<\u2713> na\u00EFve \u041C X");
  ASSERT_EQ(unseen.copies.size(), 1u);
  EXPECT_EQ(unseen.copies[0].begin, 16u);
}

TEST(UnseenText, ChangesAreInOrderAndGiveTheTextsTheyName) {
  for (const std::string text :
       {"\U0001F355 \U0001F354", "\U0001F355 \u041C \U0001F354 \u041C", "a\u2660\u041Cb\u2660",
        "\u201C\u041C\u201D \u2660 \u00E9\u041C\u00E9", " \u2660 \u2660 ", "\u0301\u0301a\u0301"}) {
    std::size_t end = 0, copy_end = 0;
    const UnseenText unseen = unseen_text(text, english());
    for (const TextChange& change : unseen.changes) {
      EXPECT_GE(change.begin, end) << text;
      EXPECT_GE(change.end, change.begin);
      end = change.end;
    }
    for (const CopiedText& copy : unseen.copies) {
      EXPECT_GE(copy.begin, copy_end) << text;
      EXPECT_GT(copy.end, copy.begin);
      copy_end = copy.end;
    }
    EXPECT_LE(std::max(end, copy_end), text.size());
  }
}

}  // namespace
}  // namespace dragoman
