#include "tests/allocations.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;

std::atomic<std::int64_t> count = 0;
std::atomic<std::int64_t> left = kNever;  // allocations that succeed
std::atomic<bool> fails_once = false;
std::atomic<bool> failed = false;

/// SentencePiece's messages are broken by an exception; the destructor of a JSON value takes
/// memory.
bool cannot_fail(void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return false;
  const std::string_view library = info.dli_fname == nullptr ? "" : info.dli_fname;
  const std::string_view function = info.dli_sname == nullptr ? "" : info.dli_sname;
  return library.find("sentencepiece") != library.npos ||
         library.find("protobuf") != library.npos ||
         function.find("json_value7destroy") != function.npos;
}

bool may_fail() {
  std::array<void*, 64> frames{};
  const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
  return std::none_of(frames.begin(), frames.begin() + depth, cannot_fail);
}

bool fails() {
  if (left.fetch_sub(1) > 0 || (fails_once && failed) || !may_fail()) return false;
  failed = true;
  return true;
}

void* allocate(std::size_t size) {
  ++count;
  return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace dragoman {

std::int64_t allocations() { return count; }

FailingMemory::FailingMemory(std::int64_t allocations, Fails fails) {
  fails_once = fails == Fails::Once;
  failed = false;
  left = allocations;
}
FailingMemory::~FailingMemory() { left = kNever; }

bool FailingMemory::has_failed() const { return failed; }

}  // namespace dragoman
