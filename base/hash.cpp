#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace dragoman {

std::uint64_t xxh3(const void* bytes, std::size_t size, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

std::string hex16(std::uint64_t hash) {
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

}  // namespace dragoman
