#include "base/json.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman {

namespace {

template <class Json>
bool check_depth(int depth, typename Json::parse_event_t event, const Json&) {
  using Event = typename Json::parse_event_t;
  const bool begins = event == Event::array_start || event == Event::object_start;
  if (begins && depth >= kMostJsonDepth)
    throw Error("JSON nested more than ", kMostJsonDepth, " deep");
  return true;
}

template <class Json>
Json parse_with(std::string_view text, const typename Json::parser_callback_t& take, bool throws) {
  std::string replaced;
  if (text.find('\0') != text.npos) {  // where nlohmann's parser would silently end
    replaced = text;
    std::ranges::replace(replaced, '\0', '\1');  // a fault at the same place
    text = replaced;
  }
  return Json::parse(text, take, throws);
}

template <class Json>
std::string written(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

template <class Json>
Json parse_json(std::string_view text) {
  return parse_with<Json>(text, check_depth<Json>, true);
}
template nlohmann::json parse_json(std::string_view);
template nlohmann::ordered_json parse_json(std::string_view);

template <class Json>
Json parse_json_or_discard(std::string_view text) {
  try {
    return parse_with<Json>(text, check_depth<Json>, false);
  } catch (const Error&) {  // nested too deep
    return Json(Json::value_t::discarded);
  }
}
template nlohmann::json parse_json_or_discard(std::string_view);
template nlohmann::ordered_json parse_json_or_discard(std::string_view);

nlohmann::json parse_json(std::string_view text, const nlohmann::json::parser_callback_t& take) {
  return parse_with<nlohmann::json>(text, take, true);
}

std::string json_text(const nlohmann::json& json, int indent) { return written(json, indent); }

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return written(json, indent);
}

std::string json_string(std::string_view text) { return json_text(nlohmann::json(text)); }

}  // namespace dragoman
