// Files of text, line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// One at the beginning of a file; sacreBLEU takes it as a character of the first line.
enum class ByteOrderMark { LeftOut, Text };
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The lines of a file, or of standard input for "-"; gzip and zstd are read as plain text. Only
/// "\n" ends a line, and a "\r" before it belongs to the end. Throws Error, with file and line:
/// unreadable, or invalid UTF-8.
std::vector<std::string> read_lines(const std::string& path,
                                    ByteOrderMark mark = ByteOrderMark::LeftOut);

}  // namespace dragoman
