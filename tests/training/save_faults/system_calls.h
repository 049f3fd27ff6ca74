// The system calls that saving makes, replaced in this program: each can be made to fail, or to be
// the last thing that the process does.
#pragma once

#include <cstdint>

namespace dragoman {

enum class Fault {
  None,
  Error,    ///< the call fails with EIO
  Crash,    ///< the process ends before the call
  FullDisk  ///< writes take this many bytes in all, then fail with ENOSPC
};

/// Counts calls from now on; the one with number `at` (from 0), or the byte for FullDisk, is hit.
void set_fault(Fault fault, std::int64_t at = 0);
std::int64_t calls();          ///< since set_fault
std::int64_t bytes_written();  ///< since set_fault

constexpr int kCrashed = 77;  ///< exit status of a process that Fault::Crash ended

}  // namespace dragoman
