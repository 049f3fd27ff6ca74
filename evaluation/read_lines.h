// Files of translations, line by line.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

/// The lines of a file, or of standard input for "-". Only "\n" ends a line; white space at the end
/// of a line is left out, as sacreBLEU does, and so is a byte order mark. Errors: unreadable, or
/// invalid UTF-8, with file and line.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace dragoman
