// The files of our own interface. They are strings of the program.
#pragma once

#include <string_view>

namespace dragoman {

/// The text of a file of extras/server/page/, "page.css".
std::string_view web_page_file(std::string_view name);

/// The text of a file of extras/server/files/, "openapi.json".
std::string_view served_file(std::string_view name);

}  // namespace dragoman
