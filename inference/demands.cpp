#include "inference/demands.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/utf8.h"
#include "base/word_characters.h"

namespace dragoman {

namespace {

bool overlap(const RequiredText& a, const RequiredText& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Whether a letter, a digit or an underscore touches bytes [begin, end).
bool is_in_word(std::string_view text, std::size_t begin, std::size_t end) {
  const auto is_of_word = [text](std::size_t place) {
    const char32_t c = next_code_point(text, place);
    return c == '_' || is_word_character(c);
  };
  return (begin > 0 && is_of_word(character_start(text, begin - 1))) ||
         (end < text.size() && is_of_word(end));
}

}  // namespace

std::vector<RequiredText> protected_texts(std::string_view source) {
  static const RE2 pattern(
      R"re((?:https?|ftp)://[^\s<>"]*[^\s<>".,;:!?)\]}'])re"            // URL
      R"re(|www\.[^\s<>"]*[^\s<>".,;:!?)\]}'])re"                       //
      R"re(|[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)re"     // e-mail address
      R"re(|\$?\{[^\s{}]{1,64}\})re"                                    // {name}, ${name}
      R"re(|%(?:\d+\$)?[sdif@])re"                                      // %s, %1$d
      R"re(|</?[A-Za-z][^\s<>]{0,64}>|&(?:[A-Za-z]{2,8}|#\d{1,7});)re"  // <b>, &amp;
      R"re(|(\d+(?:[.,:/-]\d+|[\x{A0}\x{202F}]\d{3})*\p{No}*))re");     // number, 10⁴
  std::vector<RequiredText> found;
  const re2::StringPiece whole(source.data(), source.size());
  re2::StringPiece match[2];  // all of it, and the number
  std::size_t from = 0;
  while (from < source.size() &&
         pattern.Match(whole, from, source.size(), RE2::UNANCHORED, match, 2)) {
    const auto begin = static_cast<std::size_t>(match[0].data() - source.data());
    from = begin + match[0].size();
    if (!match[1].empty() && is_in_word(source, begin, from)) continue;
    found.push_back({begin, from, std::string(source.substr(begin, from - begin))});
  }
  return found;
}

std::vector<RequiredText> Demands::of(std::string_view source, const Terms& first) const {
  std::vector<RequiredText> all = first.find(source);
  const auto add = [&all](std::vector<RequiredText> more) {
    const std::size_t before = all.size();
    for (RequiredText& text : more)
      if (std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before),
                       [&](const RequiredText& other) { return overlap(other, text); }))
        all.push_back(std::move(text));
  };
  add(terms.find(source));
  if (protects) {
    std::vector<RequiredText> texts = protected_texts(source);
    if (numbers)
      for (RequiredText& text : texts) text.text = (*numbers)(text.text);
    add(std::move(texts));
  }
  std::ranges::sort(all, {}, &RequiredText::begin);
  return all;
}

}  // namespace dragoman
