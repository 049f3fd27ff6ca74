#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(ShellWord, AWordIsQuotedWhereAShellWouldChangeIt) {
  EXPECT_EQ(shell_word("run/model.safetensors"), "run/model.safetensors");
  EXPECT_EQ(shell_word("--beam-size=5"), "--beam-size=5");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(x) *"), "'$(x) *'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("für"), "'für'");
}

}  // namespace
}  // namespace dragoman
