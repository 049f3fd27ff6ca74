#include "tokenizer/byte_piece.h"

#include <charconv>

namespace dragoman {

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  unsigned char byte = 0;
  if (piece.size() != 6 || !piece.starts_with("<0x") || !piece.ends_with('>')) return std::nullopt;
  const char* end = piece.data() + 5;
  const auto parsed = std::from_chars(piece.data() + 3, end, byte, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return byte;
}

}  // namespace dragoman
