#include "base/joined.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(Joined, OfManyLinesTheFirstAreListed) {
  const std::int64_t lines[] = {7, 9, 12};
  EXPECT_EQ(lines_text(std::span(lines).first(1), 1), "line 7");
  EXPECT_EQ(lines_text(lines, 3), "lines 7, 9, 12");
  EXPECT_EQ(lines_text(lines, 4), "lines 7, 9, 12, ...");
}

}  // namespace
}  // namespace dragoman
