// Tercom's tokenizer, as in sacreBLEU.
#include <array>
#include <utility>

#include "base/utf8.h"
#include "evaluation/separate.h"
#include "evaluation/ter.h"
#include "evaluation/words.h"

namespace dragoman {

namespace {

bool is_asian_punctuation(char32_t c) {
  constexpr std::array<CodePointRange, 11> kRanges = {{
      {0x3001, 0x3002},
      {0x3008, 0x3011},
      {0x3014, 0x301F},
      {0xFF61, 0xFF65},
      {0x30FB, 0x30FB},
      {0xFF0E, 0xFF0E},
      {0xFF0C, 0xFF0C},
      {0xFF1F, 0xFF1F},
      {0xFF1A, 0xFF1B},
      {0xFF01, 0xFF02},
      {0xFF08, 0xFF09},
  }};
  return is_in(c, kRanges);
}

/// Whether a character is a word. Kana are not: sacreBLEU's patterns for them never match a line
/// that begins with a space, and all lines here do.
bool is_asian_character(char32_t c) {
  constexpr std::array<CodePointRange, 7> kRanges = {{
      {0x4E00, 0x9FFF},
      {0x3400, 0x4DBF},
      {0x31C0, 0x31EF},
      {0x2E80, 0x2EFF},
      {0xF900, 0xFAFF},
      {0xFE30, 0xFE4F},
      {0x3200, 0x3F22},  // as in sacreBLEU; U+32FF was intended
  }};
  return is_in(c, kRanges) || is_asian_punctuation(c);
}

std::string normalize(std::string text) {
  replace_all(text, "\n-", "");
  replace_all(text, "\n", " ");
  replace_entities(text);
  text = separate_each(" " + text + " ", is_mteval_symbol);
  replace_all(text, "'s ", " 's ");
  return separate_points_and_dashes(text);
}

}  // namespace

std::string tokenize_for_ter(std::string_view line, const TerConfig& config) {
  line = strip_right(line);
  if (line.empty()) return "";
  std::string text = config.case_sensitive ? std::string(line) : lower_case(line);
  if (config.normalized) {
    text = normalize(std::move(text));
    if (config.asian_support) text = to_utf8(separate_each(code_points(text), is_asian_character));
  }
  if (config.no_punct) {
    std::erase_if(text, [](char c) {
      return std::string_view(".,?:;!\"()").find(c) != std::string_view::npos;
    });
    if (config.asian_support) {
      std::u32string points = code_points(text);
      std::erase_if(points, is_asian_punctuation);
      text = to_utf8(points);
    }
  }
  std::string words;
  for (const std::string_view word : split_words(text)) {
    if (!words.empty()) words += ' ';
    words += word;
  }
  return words;
}

}  // namespace dragoman
