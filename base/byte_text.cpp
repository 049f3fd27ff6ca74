#include "base/byte_text.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace dragoman {

namespace {

/// Of Unicode's last private area, of which 80 to FF stand for bytes.
constexpr char32_t kBytes = 0x100000;

bool stands_for_byte(char32_t c) { return c >= kBytes + 0x80 && c <= kBytes + 0xFF; }

/// Bytes in front that may stay: valid UTF-8 in which nothing stands for a byte.
std::size_t plain_prefix(std::string_view bytes) {
  const std::size_t valid = std::min(find_invalid_utf8(bytes), bytes.size());
  for (std::size_t offset = 0; offset < valid;) {
    const std::size_t begin = offset;
    if (stands_for_byte(next_code_point(bytes, offset))) return begin;
  }
  return valid;
}

}  // namespace

std::string utf8_of_bytes(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t plain = plain_prefix(bytes);
    text.append(bytes, 0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    const auto byte = static_cast<unsigned char>(bytes.front());
    append_utf8(text, kBytes + byte);
    bytes.remove_prefix(1);
  }
  return text;
}

std::string bytes_of_utf8(std::string_view text) {
  std::string bytes;
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const char32_t c = next_code_point(text, offset);
    if (stands_for_byte(c))
      bytes += static_cast<char>(c - kBytes);
    else
      bytes.append(text, begin, offset - begin);
  }
  return bytes;
}

}  // namespace dragoman
