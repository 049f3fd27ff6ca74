// What this process uses of the machine and may still use: time, memory, and the limits that its
// control groups set. The allocator is jemalloc.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace dragoman {

/// Measures the time that something takes.
class Stopwatch {
 public:
  /// Since it was made, or started again.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// ---- memory ----

std::int64_t resident_memory();       ///< bytes of this process that are in memory
std::int64_t peak_resident_memory();  ///< the most since its start or the last reset
void reset_peak_resident_memory();

/// Bytes that this process can still take: the least of the machine's free memory, of what the
/// control groups leave, and of what `ulimit -v` leaves; plus the freed memory of this process that
/// its allocator keeps.
std::int64_t available_memory();

/// Throws std::bad_alloc if less is available. The system promises more pages than it has, and
/// kills a process that uses too many, without an error first.
void require_memory(std::int64_t bytes);

/// Makes the arenas in which threads find their memory, so that a new thread needs no memory for
/// one. To be called before other threads begin. Throws std::bad_alloc.
void make_arenas();

/// Gives the freed memory that the allocator keeps back to the system. To be called when memory has
/// run out: other code in this process may need it, for example oneDNN for the code that it makes.
void give_back_freed_memory();

/// Whether the error says that memory has run out: std::bad_alloc, LibTorch's message for it on a
/// CPU or a device, or oneDNN's message that it cannot make its code, if the system has no room for
/// that.
bool is_out_of_memory(const std::exception& error);

// ---- control groups (v1 and v2) ----
// The limits of this process's own group, and of all groups around it. A container has a root of
// its own; a job of Slurm or systemd does not.

/// Where the kernel describes control groups. Tests give a folder of their own.
struct CgroupFiles {
  std::string memberships = "/proc/self/cgroup";  ///< lines "number:controllers:group"
  std::string root = "/sys/fs/cgroup";            ///< v1 has a folder for each controller
};

/// Bytes that the groups still allow; pages that only cache files count as free. Nothing if no
/// group has a limit.
std::optional<std::int64_t> memory_left_by_cgroups(const CgroupFiles& files = {});

/// The least quota of the groups, in cores. Nothing if no group has one.
std::optional<double> cores_of_cgroups(const CgroupFiles& files = {});

}  // namespace dragoman
