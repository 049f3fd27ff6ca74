#include "app/commands/standard_input.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(StandardInput, OneFlagMayReadIt) {
  EXPECT_NO_THROW(check_standard_input({{"--src", "-"}, {"--ref", "a.de"}, {"--ref", ""}}));
  EXPECT_NO_THROW(check_standard_input({{"--src", "a.en"}, {"--ref", "a.en"}}));
}

TEST(StandardInput, TheFlagsThatReadItAreNamed) {
  try {
    check_standard_input({{"--src", "-"}, {"--hyp", "a.de"}, {"--ref", "-"}, {"--ref", "-"}});
    FAIL() << "three flags read it";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--src, --ref, --ref: only one of them can be standard input (-)");
  }
}

}  // namespace
}  // namespace dragoman
