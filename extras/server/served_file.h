// The server's own files, extras/server/files/*, which are part of the program.
#pragma once

#include <string_view>

namespace dragoman {

/// The text of a file of extras/server/files/, "openapi.json".
std::string_view served_file(std::string_view name);

}  // namespace dragoman
