// What tells that a file is the one that was seen before, without reading it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dragoman {

struct FileStamp {
  std::int64_t size = 0, inode = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970
  std::int64_t changed = 0;   ///< likewise; also moves with a rename or changed rights

  bool operator==(const FileStamp&) const = default;
};

/// Throws Error where there is no such file.
FileStamp stamp_of(const std::filesystem::path& path);

}  // namespace dragoman
