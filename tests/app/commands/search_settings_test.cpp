// The room formats does not see the search, and states its settings once more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/fields.h"
#include "formats/exported_search.h"
#include "formats/search_setting.h"
#include "inference/search/decode_config.h"

namespace dragoman {
namespace {

/// Whether our search takes the value.
bool is_taken(std::string_view flag, double value) {
  DecodeConfig config;
  for (const Field& field : fields_of(config))
    if (field.info.name == flag)
      field.assign({field.kind == Field::Kind::Integer
                        ? text_of(static_cast<std::int64_t>(std::llround(value)))
                        : text_of(value)});
  try {
    config.validate();
  } catch (const UsageError&) {
    return false;
  }
  return true;
}

TEST(SearchSettings, AnImportAllowsTheRangesOfTheSearch) {
  DecodeConfig config;
  std::set<std::string_view> whole;
  for (const Field& field : fields_of(config))
    if (field.kind == Field::Kind::Integer) whole.insert(field.info.name);
  for (const auto& [flag, least, most] : setting_ranges()) {
    const bool is_whole = whole.contains(flag);
    EXPECT_TRUE(is_taken(flag, least)) << flag;
    EXPECT_TRUE(is_taken(flag, most)) << flag;
    EXPECT_FALSE(is_taken(flag, is_whole ? most + 1 : std::nextafter(most, 1e9))) << flag;
    if (flag == "max-length") continue;  // 0 stands for none
    EXPECT_FALSE(is_taken(flag, is_whole ? least - 1 : std::nextafter(least, -1e9))) << flag;
  }
}

TEST(SearchSettings, AnExportKnowsEverySettingAndItsDefault) {
  DecodeConfig search;
  ExportedSearch exported;
  std::map<std::string, std::string> expected = configuration_of(fields_of(search));
  for (const char* of_the_call : {"batch-size", "seed"}) EXPECT_EQ(expected.erase(of_the_call), 1U);
  EXPECT_EQ(configuration_of(fields_of(exported)), expected);
}

}  // namespace
}  // namespace dragoman
