// How SentencePiece writes a space in a piece.
#pragma once

#include <string_view>

namespace dragoman {

inline constexpr std::string_view kSpaceMark = "\u2581";  ///< "▁"

}  // namespace dragoman
