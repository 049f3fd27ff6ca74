#include "formats/search_setting.h"

#include <algorithm>

#include "base/error.h"
#include "base/fields.h"

namespace dragoman {

namespace {

const SettingRange& range_of(std::string_view flag) {
  const auto& ranges = setting_ranges();
  const auto found = std::ranges::find(ranges, flag, &SettingRange::flag);
  if (found == ranges.end()) throw Error("no range of --", flag, " is known");
  return *found;
}

}  // namespace

const std::vector<SettingRange>& setting_ranges() {
  static const std::vector<SettingRange> ranges = {{"beam-size", 1, 1000},
                                                   {"length-penalty", 0, 100},
                                                   {"word-penalty", -100, 100},
                                                   {"repetition-penalty", 0.01, 100},
                                                   {"no-repeat-ngram-size", 0, 1000},
                                                   {"min-length", 0, 100'000},
                                                   {"max-length", 1, 100'000},
                                                   {"max-length-ratio", 0.01, 1000}};
  return ranges;
}

// Written so that "not a number" fails, too.
std::string setting_text(std::string_view flag, double value, const std::string& place) {
  const SettingRange& range = range_of(flag);
  if (!(value >= range.least && value <= range.most))
    throw Error(place, ": ", value, ": must be from ", range.least, " to ", range.most);
  return text_of(value);
}

std::string setting_text(std::string_view flag, std::int64_t value, const std::string& place,
                         std::int64_t more) {
  const SettingRange& range = range_of(flag);
  const std::int64_t least = static_cast<std::int64_t>(range.least) + more,
                     most = static_cast<std::int64_t>(range.most) + more;
  if (value < least || value > most)
    throw Error(place, ": ", value, ": must be from ", least, " to ", most);
  return text_of(value - more);
}

}  // namespace dragoman
