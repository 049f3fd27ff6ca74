// The temporary files and folders of this process, for a signal that ends it at once: destructors
// do not run then.
#pragma once

#include <filesystem>

namespace dragoman {

void add_unfinished(const std::filesystem::path& path);
/// It has been removed, or has got its name.
void forget_unfinished(const std::filesystem::path& path) noexcept;
/// Removes them all, folders with what is in them. For a process that is about to end.
void remove_unfinished() noexcept;

}  // namespace dragoman
