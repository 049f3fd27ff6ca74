// Facts about a file that show, without reading it, whether it is the file that was seen before.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace dragoman {

struct FileStamp {
  std::int64_t size = 0, inode = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970
  std::int64_t changed = 0;   ///< likewise; a rename or changed permissions change it, too

  bool operator==(const FileStamp&) const = default;
};

/// Nothing where the file does not exist or cannot be asked for; errno says why.
std::optional<FileStamp> stamp_if_there(const std::filesystem::path& path);

/// The same, but throws Error.
FileStamp stamp_of(const std::filesystem::path& path);

}  // namespace dragoman
