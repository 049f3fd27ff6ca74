#include "extras/server/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "base/error.h"
#include "base/files.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {

namespace {

ApiKeys keys_of(const std::string& text) {
  const ScratchFile file("keys.txt", text);
  return ApiKeys(file.path());
}

TEST(ApiKeys, KeysAreFoundPlainAndHashed) {
  // printf secret | sha256sum
  const ApiKeys keys = keys_of(
      "# keys\n\nalpha 100\n"
      "sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b\n"
      "\n  gamma\n");
  EXPECT_EQ(keys.find("alpha"), 0u);
  EXPECT_EQ(keys.find("secret"), 1u);
  EXPECT_EQ(keys.find("gamma"), 2u);
  for (const char* other : {"", "alph", "alphaa", "delta", "100", "# keys"})
    EXPECT_EQ(keys.find(other), std::nullopt) << other;
}

TEST(ApiKeys, CharactersAreTakenUntilTheMonthsAreUsedUp) {
  ApiKeys keys = keys_of("alpha 100\nbeta\n");
  EXPECT_TRUE(keys.take(0, 60));
  EXPECT_FALSE(keys.take(0, 41)) << "all or none";
  EXPECT_TRUE(keys.take(0, 30));
  const auto last = keys.take(0, 10);
  ASSERT_TRUE(last);
  EXPECT_FALSE(keys.take(0, 1));
  keys.give_back(*last);
  EXPECT_TRUE(keys.take(0, 10));
  EXPECT_EQ(keys.use_of(0).characters, 100);
  EXPECT_EQ(keys.use_of(0).limit, 100);
  EXPECT_TRUE(keys.take(1, 1'000'000'000));
  EXPECT_EQ(keys.use_of(1).limit, std::nullopt);
}

TEST(ApiKeys, CharactersOfOneMonthAreNotGivenBackInAnother) {
  const ScratchFile file("keys.txt", "alpha 100\n");
  std::time_t now = 1'795'000'000;  // November 2026
  ApiKeys keys(file.path(), [&now] { return now; });
  const auto taken = keys.take(0, 60);
  ASSERT_TRUE(taken);
  now += 31 * 24 * 3600;
  EXPECT_EQ(keys.use_of(0).characters, 0);
  EXPECT_TRUE(keys.take(0, 70));
  keys.give_back(*taken);
  EXPECT_EQ(keys.use_of(0).characters, 70);
  const auto of_this_month = keys.take(0, 30);
  ASSERT_TRUE(of_this_month);
  now += 31 * 24 * 3600;
  keys.give_back(*of_this_month);
  EXPECT_EQ(keys.use_of(0).characters, 0) << "the first call of a month";
}

TEST(ApiKeys, AFileIsReadAgain) {
  const ScratchFile file("keys.txt", "alpha 100\nbeta\n");
  ApiKeys keys(file.path());
  const std::string owner = keys.owner_of(1);
  ASSERT_TRUE(keys.take(0, 60));
  const auto under_way = keys.take(1, 5);
  write_file(file.path(), "gamma\nalpha 70\n");
  keys.reload();
  EXPECT_EQ(keys.find("beta"), std::nullopt);
  EXPECT_EQ(keys.find("alpha"), 0u);
  EXPECT_EQ(keys.find("gamma"), 2u);
  EXPECT_EQ(keys.use_of(0).characters, 60);
  EXPECT_FALSE(keys.take(0, 11));
  EXPECT_TRUE(keys.take(0, 10));
  keys.give_back(under_way.value());
  EXPECT_EQ(keys.use_of(1).characters, 0);
  for (const char* fault : {"", "beta 1x\n"}) {
    write_file(file.path(), fault);
    EXPECT_THROW(keys.reload(), Error);
    EXPECT_EQ(keys.find("gamma"), 2u);
    EXPECT_EQ(keys.find("beta"), std::nullopt);
  }
  write_file(file.path(), "beta 3\n");
  keys.reload();
  EXPECT_EQ(keys.find("beta"), 1u);
  EXPECT_EQ(keys.owner_of(1), owner);
  EXPECT_EQ(keys.use_of(1).limit, 3);
}

TEST(ApiKeys, AFaultNamesItsLine) {
  for (const auto& [text, fault] :
       {std::pair("a\nb 1x\n", ":2: '1x'"), std::pair("a -5\n", ":1: '-5'"),
        std::pair("\nsha256:12\n", ":2: sha256:"), std::pair("# none\n", "has no key"),
        std::pair("a 99999999999999999999\n", ":1:")})
    EXPECT_THAT([text = text] { keys_of(text); },
                testing::ThrowsMessage<Error>(testing::HasSubstr(fault)))
        << text;
  EXPECT_THROW(ApiKeys("/nowhere/keys"), Error);
}

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
  // As many clients are kept as can be, and one of them is old each time.
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

TEST(HostName, AHostNameIsWithoutPortAndInLowerCase) {
  for (const auto& [host, name] :
       {std::pair("Example.ORG:8443", "example.org"), std::pair("example.org.", "example.org"),
        std::pair("127.0.0.1:5000", "127.0.0.1"), std::pair("[::1]:5000", "[::1]"),
        std::pair("[::1]", "[::1]"), std::pair("a_b", "a_b"), std::pair("", ""),
        std::pair("a/b", ""), std::pair("a@b", ""), std::pair("a:b", ""), std::pair("[::1", ""),
        std::pair("a b", ""), std::pair("\"", "")})
    EXPECT_EQ(host_name_of(host), name) << host;
}

TEST(HostName, TheMachinesOwnNamesAreKnown) {
  for (const char* name : {"localhost", "a.localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"})
    EXPECT_TRUE(is_loopback_name(name)) << name;
  for (const char* name : {"", "notlocalhost", "localhost.org", "127.org", "127.0.0.1.org",
                           "10.0.0.1", "[::2]", "0.0.0.0"})
    EXPECT_FALSE(is_loopback_name(name)) << name;
}

TEST(HostName, AWebAddressHasAHostName) {
  EXPECT_EQ(host_of_url("https://example.org:8443/a?b"), "example.org:8443");
  EXPECT_EQ(host_of_url("http://example.org?b"), "example.org");
  EXPECT_EQ(host_of_url("null"), "");
}

}  // namespace

}  // namespace dragoman
