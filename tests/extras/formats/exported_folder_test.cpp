#include "extras/formats/exported_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(ExportedSearch, AModelFileWithAWrongSettingIsRefused) {
  const std::pair<DecodeDefaults, const char*> faults[] = {
      {{{"beam-size", "0"}}, "--beam-size 0: must be from 1 to 1000"},
      {{{"length-penalty", "nan"}}, "--length-penalty: 'nan' is not a finite number"},
      {{{"max-length", "9"}, {"min-length", "10"}}, "--min-length 10: must not exceed"},
      {{{"stop", "never"}}, "--stop: "}};
  for (const auto& [defaults, fault] : faults)
    EXPECT_THAT([&asked = defaults] { exported_search(asked); },
                testing::ThrowsMessage<Error>(
                    testing::StartsWith(std::string("the model's search settings: ") + fault)));
}

TEST(ExportedSearch, ASettingWithItsDefaultValueAsksForNothingUnlessItIsStop) {
  const FormatSearch none{.system = "X", .flags = {}, .stops = {}};
  EXPECT_THAT(unheld_settings({{"beam-size", "5"}, {"stop", "full"}, {"n-best", "2"}}, none),
              testing::ElementsAre("--n-best 2", "--stop full"));
}

}  // namespace
}  // namespace dragoman
