#include "evaluation/bleu_tokenizer.h"

#include <gtest/gtest.h>

#include <vector>

#include "evaluation/line_statistics.h"

namespace dragoman {

namespace {

std::string tokens(std::string_view line, BleuTokenizer tokenizer) {
  const std::string text = tokenization_of(tokenizer).apply(line);
  std::string joined;
  for (std::string_view word : split_words(text)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

struct Case {
  const char *line, *expected;
};

// The expected tokens are those of sacreBLEU 2.6.0.

TEST(BleuTokenizer, TheTokenizerZhIsThatOfSacreBleu) {
  for (const Case& c : std::vector<Case>{
           {"猫はマットの上に座った。Hi, 3.5-4.", "猫 はマットの 上 に 座 った 。 Hi , 3.5 - 4."},
           {"中文，abc,de 𠀀 ⺀x", "中 文 ， abc , de 𠀀 ⺀ x"},
           {"  ,a.b 5, ", ", a . b 5,"},
       })
    EXPECT_EQ(tokens(c.line, BleuTokenizer::Zh), c.expected) << c.line;
}

TEST(BleuTokenizer, TheTokenizer13aIsThatOfSacreBleu) {
  for (const Case& c : std::vector<Case>{
           {"Hello, world!", "Hello , world !"},
           {"1,000.5 a.b 5-10 x-ray", "1,000.5 a . b 5 - 10 x-ray"},
           {"&quot;a&quot; &amp;lt; <skipped>b", "\" a \" < b"},
           {"wait... what?", "wait . . . what ?"},
           {"end-\nof line\nnext", "endof line next"},
           {"end-\n", "end-"},
           {"it's U.S. 3.", "it's U . S . 3 ."},
           {"..,a", ". . , a"},
           {"日本。x.", "日本。x ."},
           {"x\u00A0y\u3000z\u0085w", "x y z w"},
           {"10.-5", "10 . -5"},
           {"", ""},
       })
    EXPECT_EQ(tokens(c.line, BleuTokenizer::V13a), c.expected);
}

TEST(BleuTokenizer, TheTokenizerIntlIsThatOfSacreBleu) {
  for (const Case& c : std::vector<Case>{
           {"Hello, world!", "Hello , world !"},
           {"1,000.5 a.b 5-10 x-ray", "1,000.5 a . b 5-10 x - ray"},
           {"&quot;a&quot;", "& quot ; a & quot ;"},
           {"it's U.S. 3.", "it ' s U . S . 3."},
           {"3. ", "3."},
           {"日本。x.", "日本 。 x ."},
           {"10.-5", "10 . - 5"},
           {"1,5 €5 „x“ a–b ½. 5° c++", "1,5 € 5 „ x “ a – b ½ . 5 ° c + +"},
           {"¿qué? 10€ ⁇ x².", "¿ qué ? 10 € ⁇ x²."},
       })
    EXPECT_EQ(tokens(c.line, BleuTokenizer::Intl), c.expected);
}

TEST(BleuTokenizer, CharTakesCharactersAndNoneTakesWords) {
  EXPECT_EQ(tokens("aé 猫\t😀.", BleuTokenizer::Char), "a é 猫 😀 .");
  EXPECT_EQ(tokens(" aé, 猫\t😀. ", BleuTokenizer::None), "aé, 猫 😀.");
}

// The expected tokens are those of sacremoses 0.2.0 without its lists of abbreviations.

struct MosesCase {
  const char *language, *line, *expected;
};

TEST(MosesTokenizer, TokensAreThoseOfMoses) {
  for (const MosesCase& c : std::vector<MosesCase>{
           {"en", "It's 1,000.50 dollars, (approx.), isn't it?",
            "It 's 1,000.50 dollars , ( approx . ) , isn 't it ?"},
           {"en", "the 1990's dogs' \"home\"", "the 1990 's dogs ' \" home \""},
           {"fr", "l'homme qu'il 'voit'.", "l' homme qu' il ' voit ' ."},
           {"de", "Das geht's -- wie... z.B. hier. dort.",
            "Das geht ' s -- wie ... z.B. hier. dort ."},
           {"de", "well-known a,b 1,2, 3,", "well-known a , b 1,2 , 3 ,"},
           {"de", "  \t ", ""},
       })
    EXPECT_EQ(tokenize_moses(c.line, c.language), c.expected) << c.line;
}

TEST(MosesTokenizer, CompoundsAreSplitFromTheLeftWithoutOverlaps) {
  EXPECT_EQ(split_compounds("a well-known - fact"), "a well ##AT##-##AT## known - fact");
  EXPECT_EQ(split_compounds("a-b-c -x y-"), "a ##AT##-##AT## b-c -x y-");
  EXPECT_EQ(split_compounds(""), "");
}

}  // namespace

}  // namespace dragoman
