// The origins of web pages, as browsers write them into the header Origin.
#pragma once

#include <string_view>

namespace dragoman {

/// "https://example.org", "http://localhost:3000", "null". Browsers write them in lower case, with
/// a port where it is not the scheme's own, and with nothing behind (RFC 6454, section 6.2).
bool is_web_origin(std::string_view text);

}  // namespace dragoman
