#include "extras/formats/exported_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

TEST(ExportedSearch, AModelFileWithAWrongSettingIsRefused) {
  const std::pair<DecodeDefaults, const char*> faults[] = {
      {{{"beam-size", "0"}}, "--beam-size 0 ... 1 ... 1000"},
      {{{"length-penalty", "nan"}}, "--length-penalty ... 'nan' ... finite"},
      {{{"max-length", "9"}, {"min-length", "10"}}, "--min-length 10"},
      {{{"stop", "never"}}, "--stop"}};
  for (const auto& [defaults, fault] : faults)
    EXPECT_THAT([&asked = defaults] { exported_search(asked); },
                testing::ThrowsMessage<Error>(Names(std::string("the model's ... ") + fault)));
}

TEST(ExportedSearch, ASettingWithItsDefaultValueAsksForNothingUnlessItIsStop) {
  const FormatSearch none{.system = "X", .flags = {}, .stops = {}};
  EXPECT_THAT(unsupported_settings({{"beam-size", "5"}, {"stop", "full"}, {"n-best", "2"}}, none,
                                   Unsupported::LeftOut),
              testing::ElementsAre("--n-best 2", "--stop full"));
}

}  // namespace
}  // namespace dragoman
