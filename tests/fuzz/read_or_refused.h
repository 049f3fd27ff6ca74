// The readers of files are given bytes in memory, and may refuse them with an Error of one line.
// Any other end is a defect.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"

namespace dragoman {

template <class Read>
void read_or_refused(Read read) {
  try {
    read();
  } catch (const Error& error) {
    if (*error.what() == '\0') std::abort();
  } catch (const UsageError& error) {
    if (*error.what() == '\0') std::abort();
  }
}

/// A file that is in no folder.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) std::abort();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace dragoman
