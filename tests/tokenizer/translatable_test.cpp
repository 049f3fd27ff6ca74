#include "tokenizer/translatable.h"

#include <gtest/gtest.h>

#include "base/fields.h"
#include "base/utf8.h"
#include "tests/tokenizer/translatable_examples.h"

namespace dragoman {
namespace {

TEST(TranslatableTexts, ATextWithoutWordsIsCopied) {
  for (const auto& [kind, text] : translatable_examples(TRANSLATABLE_EXAMPLES)) {
    const std::optional<CopiedKind> found = copied_kind(text);
    EXPECT_EQ(found ? name_of(*found) : "translated", kind) << text;
  }
}

TEST(TranslatableTexts, HalfOfTheExamplesHaveWords) {
  const auto examples = translatable_examples(TRANSLATABLE_EXAMPLES);
  EXPECT_GE(examples.size(), 60U);
  EXPECT_EQ(2 * std::ranges::count(examples, "translated", &TranslatableExample::kind),
            std::ssize(examples));
}

TEST(TranslatableTexts, AnyLetterOfAnyScriptMakesAWord) {
  for (const char32_t letter : std::u32string_view(U"aßжαאبहกა中あ가𝐇"))
    EXPECT_EQ(copied_kind(to_utf8({&letter, 1})), std::nullopt);
}

std::string between(const std::string& text) {
  const auto [begin, end] = between_signs(text);
  return text.substr(0, begin) + "[" + text.substr(begin, end - begin) + "]" + text.substr(end);
}

TEST(TranslatableTexts, EmojiBulletsAndNotesAtTheEndsAreLeftOut) {
  EXPECT_EQ(between("♪ La la la ♪"), "♪ [La la la] ♪");
  EXPECT_EQ(between("Hello! 😀👍🏽"), "[Hello!] 😀👍🏽");
  EXPECT_EQ(between("😀Hello ❤\uFE0F  ✓"), "😀[Hello] ❤\uFE0F  ✓");
  EXPECT_EQ(between("• • First"), "• • [First]");
  EXPECT_EQ(between("- First"), "- [First]");
  EXPECT_EQ(between("– – First – and last –"), "– – [First – and last –]");
  EXPECT_EQ(between("1\uFE0F\u20E3 One"), "1\uFE0F\u20E3 [One]");
  EXPECT_EQ(between("👩\u200D👧 us"), "👩\u200D👧 [us]");
  EXPECT_EQ(between("Dragoman™"), "[Dragoman]™");
  EXPECT_EQ(between("ℹ\uFE0F Info"), "ℹ\uFE0F [Info]");
  EXPECT_EQ(between("→ 5 → 6 →"), "→ [5 → 6] →");
  EXPECT_EQ(between("✓"), "✓[]");
}

TEST(TranslatableTexts, PunctuationAndSignsBeforeNumbersAndWordsAreText) {
  for (const std::string text :
       {"-5", "$5", "—Hola", "«Bonjour»", "(a)", "§ 5", "20 °C", "№ 5", "# one", "-item", "Wait…",
        "¿Qué?", "12", "", "❝a❞", "e\u0301", "नमस्ते", "日本語。", "\u200Fשלום"})
    EXPECT_EQ(between(text), "[" + text + "]");
}

TEST(TranslatableTexts, AKindWhosePairsAreMostlyNoCopiesIsTranslated) {
  CopyCounts counts{};
  const auto at = [&](CopiedKind kind) -> CopyCount& {
    return counts[static_cast<std::size_t>(kind)];
  };
  at(CopiedKind::Number) = {10, 4};
  at(CopiedKind::Signs) = {10, 5};
  at(CopiedKind::Url) = {9, 0};
  const CopiedFractions fractions = copied_fractions(counts);
  EXPECT_EQ(fractions, (CopiedFractions{{"number", 0.4}, {"signs", 0.5}}));
  EXPECT_FALSE(copies(CopiedKind::Number, fractions));
  EXPECT_TRUE(copies(CopiedKind::Signs, fractions));
  EXPECT_TRUE(copies(CopiedKind::Url, fractions)) << "nine pairs say nothing";
  EXPECT_TRUE(copies(CopiedKind::Number, {})) << "a model without a record";
}

}  // namespace
}  // namespace dragoman
