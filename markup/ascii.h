// Kinds of bytes, where markup and placeholders know those of ASCII alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace dragoman {

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of the letters that stand at a place and behind it.
inline std::size_t end_of_ascii_letters(std::string_view text, std::size_t place) {
  while (place < text.size() && is_ascii_letter(text[place])) ++place;
  return place;
}

}  // namespace dragoman
