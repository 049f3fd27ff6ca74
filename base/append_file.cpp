#include "base/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace dragoman {

AppendFile::AppendFile(const std::filesystem::path& path, std::int64_t keep_bytes)
    : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw Error(path.string(), ": cannot write: ", std::strerror(errno));
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
  if (write(descriptor_, record.data(), record.size()) == static_cast<ssize_t>(record.size())) {
    bytes_ += static_cast<std::int64_t>(record.size());
    return true;
  }
  if (ftruncate(descriptor_, bytes_) == 0) lseek(descriptor_, bytes_, SEEK_SET);
  return false;
}

void AppendFile::sync() { fdatasync(descriptor_); }

}  // namespace dragoman
