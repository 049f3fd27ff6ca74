// Any bytes, for example the name of a file, as UTF-8 for records in JSON and TOML, and back again.
// Valid UTF-8 stays as it is. Each byte 80 to FF of an invalid sequence becomes one of U+100080 to
// U+1000FF; so does each byte of these code points themselves.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

std::string utf8_of_bytes(std::string_view bytes);
/// `text` must be valid UTF-8.
std::string bytes_of_utf8(std::string_view text);

}  // namespace dragoman
