#include "base/file_stamp.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman {

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

std::optional<FileStamp> stamp_if_there(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileStamp{.size = status.st_size,
                   .inode = static_cast<std::int64_t>(status.st_ino),
                   .modified = nanoseconds(status.st_mtim),
                   .changed = nanoseconds(status.st_ctim)};
}

FileStamp stamp_of(const std::filesystem::path& path) {
  if (const auto stamp = stamp_if_there(path)) return *stamp;
  throw Error(path.string(), ": cannot open: ", std::strerror(errno));
}

}  // namespace dragoman
