#include "evaluation/bleu_tokenizer.h"

#include <array>

#include "base/utf8.h"
#include "evaluation/separate.h"
#include "evaluation/words.h"

namespace dragoman {

namespace {

/// What mteval-v13a.pl does after the language-independent part.
std::string tokenize_western(const std::string& text) {
  return separate_points_and_dashes(separate_each(text, is_mteval_symbol));
}

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_entities(text);
  return tokenize_western(" " + text + " ");
}

/// The ranges of sacreBLEU's tokenizer, two of which (marked) are not those that its comments name:
/// its escapes end after four digits, and what is left is compared as text.
bool is_zh_character(char32_t c) {
  constexpr std::array<CodePointRange, 22> kRanges = {{
      {0x3400, 0x4DB5},
      {0x4E00, 0x9FA5},
      {0x9FA6, 0x9FBB},
      {0xF900, 0xFA2D},
      {0xFA30, 0xFA6A},
      {0xFA70, 0xFAD9},
      {0x2001, 0x2A6D} /* for U+20000 to U+2A6D6 */,
      {0x2F81, 0x2FA1} /* for U+2F800 to U+2FA1D */,
      {0xFF00, 0xFFEF},
      {0x2E80, 0x2EFF},
      {0x3000, 0x303F},
      {0x31C0, 0x31EF},
      {0x2F00, 0x2FDF},
      {0x2FF0, 0x2FFF},
      {0x3100, 0x312F},
      {0x31A0, 0x31BF},
      {0xFE10, 0xFE1F},
      {0xFE30, 0xFE4F},
      {0x2600, 0x26FF},
      {0x2700, 0x27BF},
      {0x3200, 0x32FF},
      {0x3300, 0x33FF},
  }};
  return is_in(c, kRanges);
}

std::string tokenize_zh(std::string_view line) {
  return tokenize_western(to_utf8(separate_each(code_points(strip(line)), is_zh_character)));
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
    case BleuTokenizer::Zh:
      return tokenize_zh(line);
    case BleuTokenizer::Char:
      return to_utf8(separate_each(code_points(line), [](char32_t) { return true; }));
    case BleuTokenizer::None:
      break;
  }
  return std::string(line);
}

}  // namespace dragoman
