// Numbers as files store them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace dragoman {

/// The bytes of the number, the lowest first.
template <std::unsigned_integral Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFF));
  return bytes;
}

}  // namespace dragoman
