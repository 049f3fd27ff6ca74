#include "extras/server/random_name.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/error.h"

namespace dragoman {

std::string random_name() {
  std::array<std::uint8_t, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error("no random numbers: ", std::strerror(errno));
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) name += '-';
    name += kDigits[bytes[i] >> 4];
    name += kDigits[bytes[i] & 15];
  }
  return name;
}

}  // namespace dragoman
