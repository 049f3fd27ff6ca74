// Counts what the whole test program allocates, and lets memory run out.
#pragma once

#include <cstdint>

namespace dragoman {

/// Calls of operator new so far.
std::int64_t allocations();

/// While it lives, operator new fails on all threads, once or always, after `allocations` more
/// calls have succeeded. It never fails in SentencePiece or in the destructor of a JSON value,
/// which do not survive that. One at a time.
class FailingMemory {
 public:
  enum class Fails { Once, FromThenOn };
  FailingMemory(std::int64_t allocations, Fails fails);
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();

  bool has_failed() const;  ///< at least once
};

}  // namespace dragoman
