#include "inference/demands.h"

#include <re2/re2.h>

#include <algorithm>

namespace dragoman {

namespace {

bool overlap(const RequiredText& a, const RequiredText& b) {
  return a.begin < b.end && b.begin < a.end;
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
      R"re(|\b\d+(?:[.,:/-]\d+|[\x{A0}\x{202F}]\d{3})*\b)re");          // number
  std::vector<RequiredText> found;
  const re2::StringPiece whole(source.data(), source.size());
  re2::StringPiece match;
  std::size_t from = 0;
  while (from < source.size() &&
         pattern.Match(whole, from, source.size(), RE2::UNANCHORED, &match, 1)) {
    const auto begin = static_cast<std::size_t>(match.data() - source.data());
    from = begin + match.size();
    found.push_back({begin, from, std::string(match.data(), match.size())});
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
