// A bound for the depth of JSON that is not trusted.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"

namespace dragoman {

inline constexpr int kMostJsonDepth = 64;

/// For nlohmann's parse(): throws Error where lists and objects are nested more than 64 deep.
/// nlohmann's parser keeps its own stack, but copying and writing a deep value recurse.
template <class Json>
bool check_json_depth(int depth, typename Json::parse_event_t event, const Json&) {
  using Event = typename Json::parse_event_t;
  const bool begins = event == Event::array_start || event == Event::object_start;
  if (begins && depth >= kMostJsonDepth)
    throw Error("JSON nested more than ", kMostJsonDepth, " deep");
  return true;
}

}  // namespace dragoman
