#include "base/json.h"

#include "base/error.h"

namespace dragoman {

namespace {

/// Whether lists and objects are nested more than kMostJsonDepth deep. A callback could tell, too,
/// but with one nlohmann's parser goes through all elements of a list after each object in it.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"')
      in_string = !in_string;
    else if (in_string)
      i += c == '\\' ? 1 : 0;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (depth > kMostJsonDepth) return true;
  }
  return false;
}

template <class Json>
Json parse_with(std::string_view text, const typename Json::parser_callback_t& take, bool throws) {
  std::string cut;
  if (const auto nul = text.find('\0'); nul != text.npos) {  // nlohmann's parser would silently end
    cut.append(text.substr(0, nul)) += '\1';                 // a fault at the same place
    text = cut;
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
  if (is_too_deep(text)) throw Error("JSON nested more than ", kMostJsonDepth, " deep");
  return parse_with<Json>(text, nullptr, true);
}
template nlohmann::json parse_json(std::string_view);
template nlohmann::ordered_json parse_json(std::string_view);

template <class Json>
Json parse_json_or_discard(std::string_view text) {
  if (is_too_deep(text)) return Json(Json::value_t::discarded);
  return parse_with<Json>(text, nullptr, false);
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
