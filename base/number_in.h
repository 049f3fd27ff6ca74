// Numbers in the files of the kernel that have lines "name number", such as /proc/meminfo.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace dragoman {

/// The number behind the name, in its own unit. None where the file or the name is not there.
std::optional<std::int64_t> number_in(const std::filesystem::path& path, std::string_view name);

}  // namespace dragoman
