#include "extras/formats/search_setting.h"

#include "base/error.h"
#include "base/fields.h"
#include "inference/search/decode_config.h"

namespace dragoman {

namespace {

/// Our maximum length of 0 stands for none, and a file that says 0 does not mean that.
SettingRange range_of(std::string_view flag) {
  SettingRange range = setting_range(flag).value();
  if (flag == "max-length") range.least = 1;
  return range;
}

}  // namespace

// Written so that "not a number" fails, too.
std::string setting_text(std::string_view flag, double value, const std::string& place) {
  const auto [least, most] = range_of(flag);
  if (!(value >= least && value <= most))
    throw Error(place, ": ", value, ": must be from ", least, " to ", most);
  return text_of(value);
}

std::string setting_text(std::string_view flag, std::int64_t value, const std::string& place,
                         std::int64_t more) {
  const SettingRange range = range_of(flag);
  const std::int64_t least = static_cast<std::int64_t>(range.least) + more,
                     most = static_cast<std::int64_t>(range.most) + more;
  if (value < least || value > most)
    throw Error(place, ": ", value, ": must be from ", least, " to ", most);
  return text_of(value - more);
}

}  // namespace dragoman
