#include "tests/training/save_faults/system_calls.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

namespace dragoman {

namespace {

Fault chosen = Fault::None;
std::int64_t fault_at = 0, call_count = 0, byte_count = 0;

/// Whether this call is to fail; does not return if it is to crash.
bool fails() {
  const bool hit = call_count++ == fault_at;
  if (hit && chosen == Fault::Crash) _exit(kCrashed);
  if (!hit || chosen != Fault::Error) return false;
  errno = EIO;
  return true;
}

}  // namespace

void set_fault(Fault fault, std::int64_t at) {
  chosen = fault;
  fault_at = at;
  call_count = byte_count = 0;
}

std::int64_t calls() { return call_count; }
std::int64_t bytes_written() { return byte_count; }

}  // namespace dragoman

using dragoman::fails;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  if (fails()) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  using namespace dragoman;
  if (fails()) return -1;
  if (chosen == Fault::FullDisk) {
    size = std::min(size, static_cast<size_t>(fault_at - byte_count));
    if (size == 0) {
      errno = ENOSPC;
      return -1;
    }
  }
  const auto written = syscall(SYS_write, descriptor, bytes, size);
  if (written > 0) byte_count += written;
  return written;
}

int fsync(int descriptor) {
  if (fails()) return -1;
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

int close(int descriptor) {
  const bool failed = fails();
  const auto result = syscall(SYS_close, descriptor);  // Linux closes it even if it says EIO
  if (failed) errno = EIO;
  return failed ? -1 : static_cast<int>(result);
}

int rename(const char* from, const char* to) noexcept {
  if (fails()) return -1;
  return static_cast<int>(syscall(SYS_rename, from, to));
}
}
