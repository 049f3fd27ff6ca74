#include "training/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace dragoman {

RunLog::RunLog(const std::filesystem::path& path, std::int64_t keep_bytes)
    : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw Error(path.string(), ": cannot write: ", std::strerror(errno));
  const off_t size = lseek(descriptor_, 0, SEEK_END);
  bytes_ = std::min<std::int64_t>(keep_bytes, size);
  if (ftruncate(descriptor_, bytes_) != 0 || lseek(descriptor_, bytes_, SEEK_SET) < 0)
    throw Error(path.string(), ": cannot cut back: ", std::strerror(errno));
}

RunLog::~RunLog() { close(descriptor_); }

bool RunLog::append(std::string_view json) {
  const std::string line = std::string(json) + "\n";
  if (write(descriptor_, line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
    bytes_ += static_cast<std::int64_t>(line.size());
    return true;
  }
  if (ftruncate(descriptor_, bytes_) == 0) lseek(descriptor_, bytes_, SEEK_SET);
  return false;
}

void RunLog::sync() { fdatasync(descriptor_); }

}  // namespace dragoman
