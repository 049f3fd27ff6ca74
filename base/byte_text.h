// Any bytes, a file's name say, as UTF-8 for records in JSON and TOML, and back again. UTF-8 stays
// as it is, but for U+100080 to U+1000FF: they stand for the bytes 80 to FF of what is no UTF-8,
// and of themselves.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

std::string utf8_of_bytes(std::string_view bytes);
/// `text` must be valid UTF-8.
std::string bytes_of_utf8(std::string_view text);

}  // namespace dragoman
