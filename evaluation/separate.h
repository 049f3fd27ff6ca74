// Functions that put spaces around characters, for the tokenizers of the metrics. A text is a
// string of bytes if the patterns have only ASCII characters, else a string of code points.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/formatted_text.h"

namespace dragoman {

/// The first and the last code point.
using CodePointRange = std::pair<char32_t, char32_t>;

template <std::size_t N>
bool is_in(char32_t c, const std::array<CodePointRange, N>& ranges) {
  return std::ranges::any_of(
      ranges, [c](const CodePointRange& range) { return c >= range.first && c <= range.second; });
}

enum class Separate { First, Second };

/// Puts spaces around the first or second member of each pair of neighbours that fits. Pairs are
/// found from the left and do not overlap, as in the substitution of a regular expression.
template <class Text, class IsFirst, class IsSecond>
Text separate_pairs(const Text& text, Separate which, IsFirst is_first, IsSecond is_second) {
  Text result;
  result.reserve(text.size() * 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !is_first(text[i]) || !is_second(text[i + 1])) {
      result.push_back(text[i]);
      continue;
    }
    if (which == Separate::First) result.push_back(' ');
    result.push_back(text[i]);
    result.push_back(' ');
    result.push_back(text[++i]);
    if (which == Separate::Second) result.push_back(' ');
  }
  return result;
}

/// Puts spaces around each character that fits.
template <class Text, class Is>
Text separate_each(const Text& text, Is is) {
  Text result;
  result.reserve(text.size() * 2);
  for (auto c : text) {
    const bool apart = is(c);
    if (apart) result.push_back(' ');
    result.push_back(c);
    if (apart) result.push_back(' ');
  }
  return result;
}

/// Replaces &quot; &amp; &lt; &gt; by their characters.
inline void replace_entities(std::string& text) {
  if (text.find('&') == std::string::npos) return;
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
}

/// [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII punctuation without the apostrophe, comma, dash and period.
inline bool is_mteval_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// As mteval-v13a.pl: separates periods and commas unless a digit is beside them, and dashes after
/// digits. If a pattern says "not a digit", any byte of a longer sequence stands for its character.
inline std::string separate_points_and_dashes(std::string text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_other = [&](char c) { return !is_digit(c); };
  const auto is_point = [](char c) { return c == '.' || c == ','; };
  const auto is_dash = [](char c) { return c == '-'; };
  text = separate_pairs(text, Separate::Second, is_other, is_point);
  text = separate_pairs(text, Separate::First, is_point, is_other);
  return separate_pairs(text, Separate::Second, is_digit, is_dash);
}

}  // namespace dragoman
