#include "extras/server/request_rate.h"

#include <gtest/gtest.h>

#include <ctime>

namespace dragoman {
namespace {

using std::chrono::seconds;

TEST(RequestRate, TheRequestsOfAClientInAMinuteHaveABound) {
  RequestRate rate(2);
  const RequestRate::Time begin{};
  EXPECT_EQ(rate.count("a", begin), 0);
  EXPECT_EQ(rate.count("a", begin + seconds(10)), 0);
  EXPECT_EQ(rate.count("a", begin + seconds(20)), 40);
  EXPECT_EQ(rate.count("b", begin + seconds(20)), 0);
  EXPECT_EQ(rate.count("a", begin + seconds(60)), 0) << "another minute";
}

TEST(RequestRate, WithoutALimitNoRequestIsRefused) {
  RequestRate rate(-1);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rate.count("a", {}), 0);
  EXPECT_GT(RequestRate(0).count("a", {}), 0);
}

TEST(RequestRate, AnAddressOfIpv6StandsForItsNetwork) {
  RequestRate rate(1);
  EXPECT_EQ(rate.count("2001:db8:1:2::1", {}), 0);
  EXPECT_GT(rate.count("2001:db8:1:2:ffff::9", {}), 0);
  EXPECT_EQ(rate.count("2001:db8:1:3::1", {}), 0);
  EXPECT_EQ(rate.count("::ffff:192.0.2.1", {}), 0);
  EXPECT_GT(rate.count("192.0.2.1", {}), 0) << "the same address";
  EXPECT_EQ(rate.count("::ffff:192.0.2.2", {}), 0);
  EXPECT_EQ(rate.count("key 1", {}), 0);
}

TEST(RequestRate, ManyOthersDoNotMakeAClientForgotten) {
  RequestRate rate(1);
  for (int i = 0; i < 99'990; ++i) rate.count(std::to_string(i), {});
  EXPECT_EQ(rate.count("a", {}), 0);
  for (int i = 0; i < 50'000; ++i) rate.count("b" + std::to_string(i), {});
  EXPECT_GT(rate.count("a", {}), 0);
}

TEST(RequestRate, ManyClientsAreCountedInTime) {
  // Each of them is one of as many as are kept, and one of them is old.
  RequestRate rate(1);
  RequestRate::Time now{};
  for (int i = 0; i < 100'000; ++i)
    rate.count(std::to_string(i), now += std::chrono::microseconds(500));
  now += seconds(10);
  const std::clock_t begin = std::clock();
  for (int i = 100'000; i < 110'000; ++i)
    rate.count(std::to_string(i), now += std::chrono::microseconds(500));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
}

TEST(RequestRate, ManyClientsTakeBoundedMemory) {
  RequestRate rate(1);
  for (int i = 0; i < 250'000; ++i) EXPECT_EQ(rate.count(std::to_string(i), {}), 0);
}

}  // namespace
}  // namespace dragoman
