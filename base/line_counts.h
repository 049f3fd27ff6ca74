// Texts that belong together line for line.
#pragma once

#include <cstddef>
#include <string>

namespace dragoman {

/// Throws Error where the numbers of lines differ: it names both files and says where to look.
void require_same_lines(const std::string& first, std::size_t first_lines,
                        const std::string& second, std::size_t second_lines);

}  // namespace dragoman
