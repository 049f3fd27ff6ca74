#include "base/base64.h"

#include <cstdint>
#include <string_view>

namespace dragoman {

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t bits = 0;
    for (std::size_t b = 0; b < 3; ++b)
      bits = bits << 8 | (b < count ? std::to_integer<std::uint32_t>(bytes[i + b]) : 0);
    for (std::size_t d = 0; d < 4; ++d)
      text += d <= count ? kDigits[bits >> (18 - 6 * d) & 63] : '=';
  }
  return text;
}

}  // namespace dragoman
