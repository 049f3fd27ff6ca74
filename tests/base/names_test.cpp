#include "tests/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::Not;

TEST(Names, ALineHoldsAllOfThemInAnyOrder) {
  EXPECT_THAT("--preset: 'huge' is none of tiny, small", Names("small ... 'huge' ... --preset"));
  EXPECT_THAT("x\n--lr 0: must be above 0", Names("--lr 0 ... above 0"));
  EXPECT_THAT("--preset is wrong", Not(Names("--preset ... small")));
  EXPECT_THAT("--preset\nsmall", Not(Names("--preset ... small")));
  EXPECT_THAT("", Not(Names("--preset")));
}

TEST(Names, ANameStandsWhole) {
  EXPECT_THAT("--max-tokens", Not(Names("--max-token")));
  EXPECT_THAT("--max-tokens, not --max-token", Names("--max-token"));
  EXPECT_THAT("a.en has 29 lines", Not(Names("2 lines")));
  EXPECT_THAT("a.en has 29 lines", Not(Names("29 line")));
  EXPECT_THAT("/tmp/a.en: 29 lines", Names("a.en ... 29 lines"));
}

}  // namespace
}  // namespace dragoman
