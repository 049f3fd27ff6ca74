// Counts what the whole test program allocates.
#pragma once

#include <cstdint>

namespace dragoman {

/// Calls of operator new so far.
std::int64_t allocations();

}  // namespace dragoman
