// Kinds of bytes, where markup and placeholders know those of ASCII alone.
#pragma once

namespace dragoman {

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace dragoman
