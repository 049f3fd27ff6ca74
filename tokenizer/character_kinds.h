// Kinds of characters that the rules of sentences ask for.
#pragma once

#include <string_view>

#include "base/utf8.h"

namespace dragoman {

inline bool is_one_of(char32_t c, std::u32string_view set) { return set.find(c) != set.npos; }
inline bool is_letter(char32_t c) { return general_category(c)[0] == 'L'; }
inline bool is_digit(char32_t c) { return general_category(c) == "Nd"; }
inline bool is_capital(char32_t c) {
  return general_category(c) == "Lu" || general_category(c) == "Lt";
}
inline bool is_small(char32_t c) { return general_category(c) == "Ll"; }

inline bool is_letter_or_number(char32_t c) {
  return general_category(c)[0] == 'L' || general_category(c)[0] == 'N';
}

inline bool is_kana(char32_t c) { return c >= 0x3041 && c <= 0x30FF; }

inline bool is_ideographic(char32_t c) {
  return is_kana(c) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

inline bool is_emoji(char32_t c) {
  return (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x2600 && c <= 0x27BF) || c == 0xFE0F ||
         c == 0x200D;
}

inline bool is_greek(char32_t c) {
  return (c >= 0x370 && c <= 0x3FF) || (c >= 0x1F00 && c <= 0x1FFF);
}

}  // namespace dragoman
