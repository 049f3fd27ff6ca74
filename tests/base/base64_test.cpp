#include "base/base64.h"

#include <gtest/gtest.h>

#include <string_view>

namespace dragoman {
namespace {

std::string of(std::string_view text) { return base64(std::as_bytes(std::span(text))); }

TEST(Base64, TheStandardsExamplesAreReproduced) {
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(of("\xFF\xFE\xFD"), "//79");
}

}  // namespace
}  // namespace dragoman
