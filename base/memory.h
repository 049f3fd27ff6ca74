// Memory: what this process holds, and what it may still take. The allocator is jemalloc.
#pragma once

#include <cstdint>
#include <exception>

namespace dragoman {

std::int64_t resident_memory();       ///< bytes of this process in memory
std::int64_t peak_resident_memory();  ///< the most since its start or the last reset
void reset_peak_resident_memory();

/// Bytes that this process can still take: the least of what the machine has, what the cgroup
/// allows (v1 and v2; pages that only cache files count as free) and what `ulimit -v` leaves; and
/// what it has freed, which the allocator keeps.
std::int64_t available_memory();

/// Throws std::bad_alloc where less is available: pages are given before they are there, so whoever
/// takes too many is not told but killed.
void require_memory(std::int64_t bytes);

/// The allocator keeps what is freed; where memory has run out, others may need it: code that
/// oneDNN makes, say.
void give_back_freed_memory();

/// Whether memory has run out: std::bad_alloc, LibTorch's words for it on a CPU or a device, or
/// oneDNN's where it has no room for code.
bool is_out_of_memory(const std::exception& error);

}  // namespace dragoman
