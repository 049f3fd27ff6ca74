// Letters and digits of ASCII, the only ones that names in markup and placeholders have.
#pragma once

#include <cstddef>
#include <string_view>

namespace dragoman {

inline constexpr std::string_view kAsciiDigits = "0123456789";

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of the run of letters that begins at a place; the place itself where none does.
inline std::size_t end_of_ascii_letters(std::string_view text, std::size_t place) {
  while (place < text.size() && is_ascii_letter(text[place])) ++place;
  return place;
}

}  // namespace dragoman
