// All bytes of an open file, pipe or device.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// Reads from where the descriptor stands to the end. `name` is for messages. Throws Error where
/// reading fails, which is not the end.
std::string read_all(int descriptor, std::string_view name);

}  // namespace dragoman
