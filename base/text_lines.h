// Files of text, line by line, and texts that belong together line for line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A byte order mark at the beginning of a file. sacreBLEU takes it as a character of the first
/// line.
enum class ByteOrderMark { LeftOut, Text };

/// The lines of a file, or of standard input for "-"; gzip and zstd are read as plain text. Only
/// "\n" ends a line, and a "\r" before it belongs to the end. Throws Error, with file and line:
/// unreadable, or invalid UTF-8.
std::vector<std::string> read_lines(const std::string& path,
                                    ByteOrderMark mark = ByteOrderMark::LeftOut);

/// Throws Error where the numbers of lines differ: it names both files and says where to look.
void require_same_lines(const std::string& first, std::size_t first_lines,
                        const std::string& second, std::size_t second_lines);

}  // namespace dragoman
