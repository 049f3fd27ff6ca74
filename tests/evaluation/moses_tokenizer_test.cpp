#include "evaluation/moses_tokenizer.h"

#include <gtest/gtest.h>

#include <vector>

namespace dragoman {
namespace {

// The expected tokens are those of sacremoses 0.2.0 without its lists of abbreviations.

struct Case {
  const char *language, *line, *expected;
};

TEST(MosesTokenizer, TokensAreThoseOfMoses) {
  for (const Case& c : std::vector<Case>{
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
