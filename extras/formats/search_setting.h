// The settings of another system's search, as a model file holds them: text by the names of our
// flags (DecodeDefaults).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/file/model_file.h"

namespace dragoman {

/// A file's settings of the search.
struct ForeignSearch {
  DecodeDefaults defaults;
  std::vector<std::int64_t> suppressed = {};  ///< tokens of the target that are never produced
  std::string file = {};                      ///< that says it
  std::vector<std::string> left_out = {};     ///< its names of settings that we do not have
};

/// The text of a number. Throws Error that begins with `place`, the name of the file and its key,
/// for a number beyond the range of the flag.
std::string setting_text(std::string_view flag, double value, const std::string& place);

/// The same of a whole number. `more`: how much larger than ours theirs is.
std::string setting_text(std::string_view flag, std::int64_t value, const std::string& place,
                         std::int64_t more = 0);

}  // namespace dragoman
