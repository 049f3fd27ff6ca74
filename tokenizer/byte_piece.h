// SentencePiece's pieces for single bytes, of which it makes characters that are no pieces.
#pragma once

#include <optional>
#include <string_view>

namespace dragoman {

/// The byte that a piece like "<0x41>" stands for; none for other pieces.
std::optional<unsigned char> byte_of_piece(std::string_view piece);

}  // namespace dragoman
