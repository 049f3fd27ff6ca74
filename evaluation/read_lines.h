// Files of translations, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// One at the beginning of a file; sacreBLEU takes it as a character of the first line.
enum class ByteOrderMark { LeftOut, Text };
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The lines of a file, or of standard input for "-". Only "\n" ends a line; white space at the end
/// of a line is left out, as sacreBLEU does. Errors: unreadable, or invalid UTF-8, with file and
/// line.
std::vector<std::string> read_lines(const std::string& path,
                                    ByteOrderMark mark = ByteOrderMark::LeftOut);

}  // namespace dragoman
