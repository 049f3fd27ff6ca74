#include "extras/formats/zip_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/extras/formats/checkpoint_bytes.h"
#include "tests/extras/formats/damage.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using testing::ThrowsMessage;

constexpr std::size_t kLimit = 1'000'000;

void expect_refused(const std::string& bytes, const std::string& what, std::size_t limit = kLimit) {
  const auto read_all = [&] {
    ZipArchive archive("a.zip", bytes, limit);
    for (const std::string& name : archive.names()) archive.read(name);
  };
  EXPECT_THAT(read_all, ThrowsMessage<Error>(AllOf(StartsWith("a.zip: "), Names(what))));
}

constexpr const char* kDamaged = "not a ZIP archive, or a damaged one; restore the file";
const std::string kText = "some text, some text, some text, some text";

TEST(ZipArchive, EntriesOfEveryFormAreRead) {
  for (const bool is_deflated : {false, true})
    for (const bool has_descriptor : {false, true})
      for (const bool is_zip64 : {false, true}) {
        const std::string bytes = zip_of({{.name = "a/one",
                                           .bytes = kText,
                                           .is_deflated = is_deflated,
                                           .has_descriptor = has_descriptor,
                                           .is_zip64 = is_zip64},
                                          {.name = "a/empty", .bytes = ""}});
        ZipArchive archive("a.zip", bytes, kLimit);
        EXPECT_THAT(archive.names(), ElementsAre("a/one", "a/empty"));
        EXPECT_EQ(archive.read("a/one"), kText) << is_deflated << has_descriptor << is_zip64;
        EXPECT_EQ(archive.read("a/one").data(), archive.read("a/one").data());
        EXPECT_EQ(archive.read("a/empty"), "");
        EXPECT_TRUE(archive.contains("a/empty"));
        EXPECT_FALSE(archive.contains("a"));
      }
}

TEST(ZipArchive, AStoredEntryIsSeenWhereItLies) {
  const std::string bytes = zip_of({{.name = "one", .bytes = kText}});
  ZipArchive archive("a.zip", bytes, 0);
  EXPECT_EQ(archive.read("one").data(), bytes.data() + bytes.find(kText));
}

TEST(ZipArchive, AnArchiveMayBeEmpty) {
  const std::string bytes = zip_of({});
  EXPECT_THAT(ZipArchive("a.zip", bytes, kLimit).names(), IsEmpty());
}

TEST(ZipArchive, AnotherFileIsRefused) {
  expect_refused("", "ZIP archive");
  expect_refused("PK\3\4", "ZIP archive");
  expect_refused(std::string(1000, 'x'), "ZIP archive");
}

TEST(ZipArchive, AWrongChecksumIsSeen) {
  std::string bytes = zip_of({{.name = "one", .bytes = kText}});
  ++bytes[bytes.find(kText)];
  expect_refused(bytes, "one ... checksum");
  std::string packed = zip_of({{.name = "one", .bytes = kText, .is_deflated = true}});
  ++packed[40];  // one of the compressed bytes
  expect_refused(packed, "one ... checksum");
}

TEST(ZipArchive, EntriesThatCannotBeReadAreNamed) {
  expect_refused(zip_of({{.name = "one", .bytes = kText, .flags = 1}}), "one: is encrypted");
  expect_refused(zip_of({{.name = "one", .bytes = kText, .method = 14}}), "one ... unknown method");
  expect_refused(zip_of({{.name = "one", .bytes = kText}, {.name = "one", .bytes = ""}}),
                 "two entries ... one name");
  expect_refused(zip_of({{.name = "", .bytes = kText}}), "no name");
  expect_refused(zip_of({{.name = "one", .bytes = kText, .stated_offset = 12}}), kDamaged);
  expect_refused(zip_of({{.name = "one", .bytes = kText, .stated_offset = 0x7FFFFFFF}}), kDamaged);
  const std::string bytes = zip_of({});
  ZipArchive archive("a.zip", bytes, kLimit);
  EXPECT_THAT([&] { archive.read("two"); },
              ThrowsMessage<Error>(Names("a.zip ... no entry ... two")));
}

TEST(ZipArchive, StatedSizesAreComparedWithTheBytes) {
  ZipPart part{.name = "one", .bytes = kText, .stated_size = 1'000'000'000};
  expect_refused(zip_of({part}), kDamaged);
  part.is_zip64 = true;
  part.stated_size = 0x7FFFFFFFFFFFFFFF;
  expect_refused(zip_of({part}), kDamaged);
  part.is_deflated = true;
  expect_refused(zip_of({part}), "9223372036854775807 bytes ... 42 ... restore", std::size_t(-1));
  part.stated_size = static_cast<std::int64_t>(kText.size()) + 5;
  expect_refused(zip_of({part}), "holds only");
  part.stated_size = 5;
  expect_refused(zip_of({part}), "holds more");
}

TEST(ZipArchive, NoMoreIsInflatedThanTheLimit) {
  const ZipPart one{.name = "one", .bytes = std::string(100'000, 'a'), .is_deflated = true};
  ZipPart two = one;
  two.name = "two";
  const std::string bytes = zip_of({one, two});
  EXPECT_LT(bytes.size(), 1000u);
  expect_refused(bytes, "one ... 100000 bytes ... 99999", 99'999);
  expect_refused(bytes, "two ... 100000 bytes ... 99999", 199'999);
  ZipArchive archive("a.zip", bytes, 200'000);
  EXPECT_EQ(archive.read("one"), one.bytes);
  EXPECT_EQ(archive.read("two"), one.bytes);
  EXPECT_EQ(archive.read("one"), one.bytes);  // it counts only once towards the limit
}

TEST(ZipArchive, AnEntryMayHaveMoreBytesThanAreAskedFor) {
  for (const bool is_deflated : {false, true}) {
    const std::string bytes = zip_of({{.name = "one", .bytes = kText, .is_deflated = is_deflated}});
    ZipArchive archive("a.zip", bytes, kLimit);
    EXPECT_THAT([&] { archive.read("one", kText.size() - 1); },
                ThrowsMessage<Error>(Names("a.zip ... one ... 42 bytes ... 41")));
    EXPECT_EQ(archive.read("one", kText.size()), kText);
  }
}

TEST(ZipArchive, MemoryIsTakenAsBytesComeAndNotAsTheyAreStated) {
  const auto most_memory = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // KiB
  };
  std::string noise;
  for (std::uint64_t i = 0; i < 100'000; ++i) noise += bytes_of(random_bits(7, i));
  const std::string bytes = zip_of({{.name = "one",
                                     .bytes = noise,
                                     .is_deflated = true,
                                     .is_zip64 = true,
                                     .stated_size = 700'000'000}});
  const auto before = most_memory();
  expect_refused(bytes, "700000000 bytes ... 800000", std::size_t(-1));
  EXPECT_LT(most_memory() - before, 100'000);
}

TEST(ZipArchive, ABombIsNotPlausible) {
  const std::string zeros(std::size_t{100} << 20, '\0');
  const std::string bomb = zip_of({{.name = "one", .bytes = zeros, .is_deflated = true}});
  EXPECT_LT(bomb.size(), 1u << 20);
  expect_refused(bomb, "one ... 104857600 bytes", plausible_inflated(bomb.size()));
}

std::string sound() {
  return zip_of({{.name = "one", .bytes = kText, .is_deflated = true},
                 {.name = "two", .bytes = kText, .has_descriptor = true},
                 {.name = "three", .bytes = kText, .is_deflated = true, .is_zip64 = true}});
}

TEST(ZipArchive, TheBeginningOfAnArchiveIsRefused) {
  EXPECT_THAT(accepted_beginnings(sound(), exercise_zip), IsEmpty());
}

TEST(ZipArchive, DamageIsRefusedOrHarmless) {
  const int refused = refused_flips(sound(), exercise_zip);
  EXPECT_GT(refused, 12'000);  // changes of times, versions and names do no harm
  EXPECT_LT(refused, 20'000);
}

}  // namespace
}  // namespace dragoman
