// XXH3: the checksum of files and tensors, and the hash of lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman {

std::uint64_t xxh3(const void* bytes, std::size_t size, std::uint64_t seed = 0);
inline std::uint64_t xxh3(std::string_view text, std::uint64_t seed = 0) {
  return xxh3(text.data(), text.size(), seed);
}

/// 16 lower-case hexadecimal digits.
std::string hex16(std::uint64_t hash);

}  // namespace dragoman
