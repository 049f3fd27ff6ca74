// A file that grows by whole records, for logs. A record that cannot be written whole (disk full)
// is taken back, so that the next one starts in the right place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace dragoman {

/// Another process has the file locked. The caller may try again later.
class FileLocked : public Error {
 public:
  using Error::Error;
};

class AppendFile {
 public:
  /// Opens for appending behind all that is there. Other processes may append to the same file: no
  /// record is lost or divided.
  explicit AppendFile(const std::filesystem::path& path);
  /// Opens for appending behind the first `keep_bytes` bytes; all bytes after them are cut off.
  AppendFile(const std::filesystem::path& path, std::int64_t keep_bytes);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Returns false where the record could not be written: a log is no reason to end a run. Waits
  /// for no other process: throws FileLocked, and writes nothing, while one has the file locked.
  bool append(std::string_view record);
  std::int64_t bytes() const { return bytes_; }
  void sync();

 private:
  bool write_record(std::string_view record);

  int descriptor_;
  bool is_shared_;
  std::int64_t bytes_;
};

}  // namespace dragoman
