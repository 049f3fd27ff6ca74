#include "base/word_characters.h"

#include "base/utf8.h"

namespace dragoman {

bool is_unspaced(char32_t c) {
  const bool is_south_east_asian = (c >= 0x0E00 && c < 0x10A0) ||  // Thai, Lao, Tibetan, Myanmar
                                   (c >= 0x1780 && c < 0x1800);    // Khmer
  return is_south_east_asian || (c >= 0x2E80 && c < 0xE0000 && !(c >= 0xA000 && c < 0xF900));
}

bool is_word_character(char32_t c) {
  const char kind = general_category(c)[0];
  return (kind == 'L' || kind == 'N' || kind == 'M') && !is_unspaced(c);
}

}  // namespace dragoman
