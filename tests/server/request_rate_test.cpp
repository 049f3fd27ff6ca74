#include "server/request_rate.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

using std::chrono::seconds;

TEST(RequestRate, EachClientHasSoManyRequestsInAMinute) {
  RequestRate rate(2);
  const RequestRate::Time begin{};
  EXPECT_EQ(rate.count("a", begin), 0);
  EXPECT_EQ(rate.count("a", begin + seconds(10)), 0);
  EXPECT_EQ(rate.count("a", begin + seconds(20)), 40);
  EXPECT_EQ(rate.count("b", begin + seconds(20)), 0);
  EXPECT_EQ(rate.count("a", begin + seconds(60)), 0) << "another minute";
}

TEST(RequestRate, WithoutALimitThereIsNone) {
  RequestRate rate(-1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rate.count("a", {}), 0);
  EXPECT_GT(RequestRate(0).count("a", {}), 0);
}

TEST(RequestRate, ManyClientsTakeBoundedMemory) {
  RequestRate rate(1);
  for (int i = 0; i < 250'000; ++i) EXPECT_EQ(rate.count(std::to_string(i), {}), 0);
}

}  // namespace
}  // namespace dragoman
