#include "markup/word_fragments.h"

#include "base/utf8.h"

namespace dragoman {

namespace {

/// Of a word; what is beyond belongs to its last one. A line of signs is one word.
constexpr std::size_t kMostFragments = 32;

bool is_letter(char32_t code_point) {
  const char kind = general_category(code_point).front();
  return kind == 'L' || kind == 'N' || kind == 'M';
}

}  // namespace

std::vector<WordFragment> fragments_of(std::string_view text, std::span<const ByteRange> words) {
  std::vector<WordFragment> fragments;
  for (std::size_t w = 0; w < words.size(); ++w) {
    bool goes_on = false;
    const std::size_t most = fragments.size() + kMostFragments;
    for (std::size_t offset = words[w].begin; offset < words[w].end;) {
      const std::size_t begin = offset;
      const bool letter = is_letter(next_code_point(text, offset));
      if ((!letter || !goes_on) && fragments.size() < most)
        fragments.push_back({.place = {begin, begin}, .word = w, .has_letters = letter});
      fragments.back().place.end = offset;
      goes_on = letter;
    }
  }
  return fragments;
}

bool has_letters(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();)
    if (is_letter(next_code_point(text, offset))) return true;
  return false;
}

}  // namespace dragoman
