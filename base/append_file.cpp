#include "base/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman {

namespace {

int opened(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);
  if (descriptor < 0) throw Error(path.string(), ": cannot write: ", std::strerror(errno));
  return descriptor;
}

}  // namespace

AppendFile::AppendFile(const std::filesystem::path& path)
    : descriptor_(opened(path, O_APPEND)),
      is_shared_(true),
      bytes_(lseek(descriptor_, 0, SEEK_END)) {}

AppendFile::AppendFile(const std::filesystem::path& path, std::int64_t keep_bytes)
    : descriptor_(opened(path, 0)), is_shared_(false) {
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  bytes_ = std::min<std::int64_t>(keep_bytes, size);
  if (ftruncate(descriptor_, bytes_) != 0 || lseek(descriptor_, bytes_, SEEK_SET) < 0) {
    const std::string why = std::strerror(errno);
    close(descriptor_);
    throw Error(path.string(), ": cannot cut back: ", why);
  }
}

AppendFile::~AppendFile() { close(descriptor_); }

bool AppendFile::append(std::string_view record) {
  if (!is_shared_) return write_record(record);
  // The lock is for taking a part of a record back: without one (some file systems have none) whole
  // records still come behind each other.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw FileLocked("another process has the file locked");
  bytes_ = lseek(descriptor_, 0, SEEK_END);
  const bool is_whole = write_record(record);
  flock(descriptor_, LOCK_UN);
  return is_whole;
}

bool AppendFile::write_record(std::string_view record) {
  if (write(descriptor_, record.data(), record.size()) == static_cast<ssize_t>(record.size())) {
    bytes_ += static_cast<std::int64_t>(record.size());
    return true;
  }
  if (ftruncate(descriptor_, bytes_) == 0) lseek(descriptor_, bytes_, SEEK_SET);
  return false;
}

void AppendFile::sync() { fdatasync(descriptor_); }

}  // namespace dragoman
