#include "extras/server/web_origin.h"

#include <algorithm>

namespace dragoman {

namespace {

bool is_made_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

/// A name, an address, or an address of IPv6 in brackets.
bool is_host(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']'))
    return is_made_of(text.substr(1, text.size() - 2), "0123456789abcdef:.");
  return is_made_of(text, "abcdefghijklmnopqrstuvwxyz0123456789-._");
}

bool is_port(std::string_view text, std::string_view scheme) {
  constexpr std::size_t kLongest = 5;
  if (!is_made_of(text, "0123456789") || text.starts_with('0') || text.size() > kLongest)
    return false;
  return !(scheme == "http" && text == "80") && !(scheme == "https" && text == "443");
}

}  // namespace

bool is_web_origin(std::string_view text) {
  constexpr std::string_view kBehindScheme = "://";
  if (text == "null") return true;
  const std::size_t end = text.find(kBehindScheme);
  if (end == std::string_view::npos) return false;
  const std::string_view scheme = text.substr(0, end);
  const std::string_view place = text.substr(end + kBehindScheme.size());
  const std::size_t bracket = std::min(place.find(']'), place.size());
  const std::size_t colon = place.find(':', place.starts_with('[') ? bracket : 0);
  if (!is_made_of(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.")) return false;
  if (colon == std::string_view::npos) return is_host(place);
  return is_host(place.substr(0, colon)) && is_port(place.substr(colon + 1), scheme);
}

}  // namespace dragoman
