#include "evaluation/bleu_tokenizer.h"

#include <cstdint>

#include "base/utf8.h"
#include "evaluation/words.h"

namespace dragoman {

namespace {

enum class Separate { First, Second };

/// Each pair of neighbours that fits (found from the left, pairs do not overlap, as in a regular
/// expression's substitution) gets spaces around its first or second member.
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

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// [\{-\~\[-\` -\&\(-\+\:-\@\/]: ASCII punctuation without the apostrophe, comma, dash and period.
bool is_13a_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// Works on bytes: the patterns name ASCII characters alone, and where one says "not a digit", any
/// byte of a longer sequence stands for its character.
std::string tokenize_13a(std::string_view line) {
  std::string text = " ";
  text += line;
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  text += " ";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_other = [&](char c) { return !is_digit(c); };
  const auto is_point = [](char c) { return c == '.' || c == ','; };
  const auto is_dash = [](char c) { return c == '-'; };
  text = separate_each(text, is_13a_symbol);
  text = separate_pairs(text, Separate::Second, is_other, is_point);
  text = separate_pairs(text, Separate::First, is_point, is_other);
  return separate_pairs(text, Separate::Second, is_digit, is_dash);
}

/// The letter of the general category's group: 'P' punctuation, 'N' number, 'S' symbol, ...
char category_group(char32_t c) {
  static const std::array<char, 128> ascii = [] {
    std::array<char, 128> groups;
    for (char32_t a = 0; a < groups.size(); ++a) groups[a] = general_category(a)[0];
    return groups;
  }();
  return c < ascii.size() ? ascii[c] : general_category(c)[0];
}

std::string tokenize_intl(std::string_view line) {
  const auto is_punctuation = [](char32_t c) { return category_group(c) == 'P'; };
  const auto is_no_number = [](char32_t c) { return category_group(c) != 'N'; };
  const auto is_symbol = [](char32_t c) { return category_group(c) == 'S'; };
  std::u32string text = code_points(line);
  text = separate_pairs(text, Separate::Second, is_no_number, is_punctuation);
  text = separate_pairs(text, Separate::First, is_punctuation, is_no_number);
  return to_utf8(separate_each(text, is_symbol));
}

}  // namespace

std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer) {
  line = strip_right(line);
  switch (tokenizer) {
    case BleuTokenizer::V13a:
      return tokenize_13a(line);
    case BleuTokenizer::Intl:
      return tokenize_intl(line);
    case BleuTokenizer::Char:
      return to_utf8(separate_each(code_points(line), [](char32_t) { return true; }));
    case BleuTokenizer::None:
      break;
  }
  return std::string(line);
}

}  // namespace dragoman
