// JSON as text: what nlohmann's parser and writer make of it, with one limit of depth and one
// treatment of bytes that are no text. The two take seconds to compile, so json.cpp alone compiles
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dragoman {

inline constexpr int kMostJsonDepth = 64;

/// The value of a text. Json: nlohmann::json, or nlohmann::ordered_json, which keeps the order of
/// members. Throws Json::exception if the text is not JSON, and Error if lists and objects are
/// nested more than kMostJsonDepth deep (copying and writing a deep value recurse).
template <class Json = nlohmann::json>
Json parse_json(std::string_view text);

/// The same, but a value that is_discarded() in place of both exceptions.
template <class Json = nlohmann::json>
Json parse_json_or_discard(std::string_view text);

/// The value of a text whose parts `take` judges, as it does for nlohmann's parse(). No bound of
/// depth.
nlohmann::json parse_json(std::string_view text, const nlohmann::json::parser_callback_t& take);

/// In one line, or in several with this indentation. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& json, int indent = -1);
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// A text as a JSON string, in quotes.
std::string json_string(std::string_view text);

}  // namespace dragoman
