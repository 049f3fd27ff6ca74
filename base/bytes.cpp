#include "base/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>

namespace dragoman {

std::uint64_t xxh3(const void* bytes, std::size_t size, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, size, seed);
}

std::string hex16(std::uint64_t hash) {
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::string with_checksum(std::string bytes) {
  bytes += little_endian(xxh3(bytes));
  return bytes;
}

std::optional<std::string_view> without_checksum(std::string_view stored) {
  if (stored.size() < sizeof(std::uint64_t)) return std::nullopt;
  const std::string_view bytes = stored.substr(0, stored.size() - sizeof(std::uint64_t));
  if (!stored.ends_with(little_endian(xxh3(bytes)))) return std::nullopt;
  return bytes;
}

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

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const float size = std::abs(value);
  if (std::isnan(value)) return sign | 0x7E00;
  if (size >= 65520) return sign | 0x7C00;
  // Below 2^-14 the spacing is 2^-24; above, it is 2^-10 of the power of two.
  const int exponent = size < 0x1p-14F ? -14 : std::ilogb(size);
  const auto whole = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  const auto biased = static_cast<std::uint32_t>(exponent + 14) << 10;  // right for `whole` < 1024
  return static_cast<std::uint16_t>(sign | (biased + whole));
}

}  // namespace dragoman
