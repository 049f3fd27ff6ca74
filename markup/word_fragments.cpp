#include "markup/word_fragments.h"

#include <algorithm>

#include "base/utf8.h"

namespace dragoman {

namespace {

/// Of a word; what is beyond belongs to its last one. A line of signs is one word.
constexpr std::size_t kMostFragments = 32;

bool is_letter(char32_t code_point) {
  const char kind = general_category(code_point).front();
  return kind == 'L' || kind == 'N' || kind == 'M';
}

struct CodePoints {
  char32_t first, last;
};
/// Thai, Lao, Tibetan, Burmese and Khmer; Kana and Han, whose later blocks are all beyond U+20000.
constexpr CodePoints kWithoutBlanks[] = {{0x0E00, 0x0EFF}, {0x0F00, 0x0FFF},  {0x1000, 0x109F},
                                         {0x1780, 0x17FF}, {0x2E80, 0x2FDF},  {0x3005, 0x30FF},
                                         {0x31F0, 0x31FF}, {0x3400, 0x9FFF},  {0xF900, 0xFAFF},
                                         {0xFF66, 0xFF9F}, {0x20000, 0x3FFFF}};

bool is_without_blanks(char32_t code_point) {
  return std::ranges::any_of(kWithoutBlanks, [&](const CodePoints& block) {
    return block.first <= code_point && code_point <= block.last;
  });
}

/// Characters of one kind make up a fragment.
enum class Kind { Letter, Digit, Alone };

Kind kind_of(char32_t code_point) {
  const char category = general_category(code_point).front();
  if (category == 'N') return Kind::Digit;
  return category == 'L' && !is_without_blanks(code_point) ? Kind::Letter : Kind::Alone;
}

}  // namespace

std::vector<WordFragment> fragments_of(std::string_view text, std::span<const ByteRange> words,
                                       std::span<const std::size_t> cuts) {
  std::vector<WordFragment> fragments;
  for (std::size_t w = 0; w < words.size(); ++w) {
    Kind last = Kind::Alone;
    const std::size_t first = fragments.size();
    for (std::size_t offset = words[w].begin; offset < words[w].end;) {
      const std::size_t begin = offset;
      const char32_t code_point = next_code_point(text, offset);
      const bool is_mark = general_category(code_point).front() == 'M';  // of the one in front
      const Kind kind = is_mark ? last : kind_of(code_point);
      const bool goes_on = is_mark || (kind == last && kind != Kind::Alone);
      const bool is_cut = std::ranges::binary_search(cuts, begin);
      const std::size_t number = fragments.size() - first;
      if (number == 0 || ((!goes_on || is_cut) && number < kMostFragments))
        fragments.push_back(
            {.place = {begin, begin}, .word = w, .has_letters = is_letter(code_point)});
      fragments.back().place.end = offset;
      last = kind;
    }
  }
  return fragments;
}

bool is_without_blanks(std::string_view text, std::size_t offset) {
  return offset < text.size() && is_without_blanks(next_code_point(text, offset));
}

bool has_letters(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();)
    if (is_letter(next_code_point(text, offset))) return true;
  return false;
}

}  // namespace dragoman
