// The memory that this process has, and the memory that it can still take. The allocator is
// jemalloc.
#pragma once

#include <cstdint>
#include <exception>

namespace dragoman {

std::int64_t resident_memory();       ///< bytes of this process that are in memory
std::int64_t peak_resident_memory();  ///< the most since its start or the last reset
void reset_peak_resident_memory();

/// Bytes that this process can still take. This is the least of three: the free memory of the
/// machine, the rest that the cgroups allow (v1 and v2; pages that only cache files count as free),
/// and the rest that `ulimit -v` allows. Memory that this process has freed, and that its allocator
/// keeps, is added.
std::int64_t available_memory();

/// Throws std::bad_alloc where less is available. The system promises more pages than it has, and
/// kills a process that uses too many, without an error before.
void require_memory(std::int64_t bytes);

/// Makes the arenas in which threads find their memory, so that a new thread needs no memory for
/// one. To be called before other threads begin. Throws std::bad_alloc.
void make_arenas();

/// Gives the freed memory that the allocator keeps back to the system. To be called where memory
/// has run out: other code in this process may need it, for example oneDNN for the code that it
/// makes.
void give_back_freed_memory();

/// Whether the error says that memory has run out: std::bad_alloc, LibTorch's message for it on a
/// CPU or a device, or oneDNN's message that it cannot make its code, if the system has no room for
/// that.
bool is_out_of_memory(const std::exception& error);

}  // namespace dragoman
