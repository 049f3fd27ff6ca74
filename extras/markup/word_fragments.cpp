#include "extras/markup/word_fragments.h"

#include <algorithm>

#include "base/utf8.h"
#include "base/word_characters.h"

namespace dragoman {

namespace {

/// Of a word; what is beyond belongs to its last one. A line of signs is one word.
constexpr std::size_t kMostFragments = 32;

bool is_letter(char32_t code_point) {
  const char kind = general_category(code_point).front();
  return kind == 'L' || kind == 'N' || kind == 'M';
}

/// Characters of one kind make up a fragment.
enum class CharacterKind { Letter, Digit, Alone };

CharacterKind kind_of(char32_t code_point) {
  const char category = general_category(code_point).front();
  if (category == 'N') return CharacterKind::Digit;
  return category == 'L' && !is_unspaced(code_point) ? CharacterKind::Letter : CharacterKind::Alone;
}

}  // namespace

std::vector<WordFragment> fragments_of(std::string_view text, std::span<const ByteRange> words,
                                       std::span<const std::size_t> cuts) {
  std::vector<WordFragment> fragments;
  for (std::size_t w = 0; w < words.size(); ++w) {
    CharacterKind last = CharacterKind::Alone;
    const std::size_t first = fragments.size();
    for (std::size_t offset = words[w].begin; offset < words[w].end;) {
      const std::size_t begin = offset;
      const char32_t code_point = next_code_point(text, offset);
      const bool is_mark = general_category(code_point).front() == 'M';  // of the one in front
      const CharacterKind kind = is_mark ? last : kind_of(code_point);
      const bool goes_on = is_mark || (kind == last && kind != CharacterKind::Alone);
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

}  // namespace dragoman
