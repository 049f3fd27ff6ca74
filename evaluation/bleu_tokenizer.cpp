#include "evaluation/bleu_tokenizer.h"

#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/utf8.h"
#include "evaluation/mecab_tokenizer.h"
#include "evaluation/separate.h"
#include "evaluation/words.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

namespace {

/// The last part of mteval-v13a.pl, after the language-independent part.
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

/// The ranges of sacreBLEU's tokenizer. Two of them (marked) differ from those that its comments
/// name: its escapes end after four digits, and the remaining digits are compared as text.
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

std::string tokenize_char(std::string_view line) {
  return to_utf8(separate_each(code_points(line), [](char32_t) { return true; }));
}

Tokenization spm_tokenization(const std::string& path) {
  const auto model = std::make_shared<Tokenizer>(Tokenizer::from_file(path));
  return {.name = "spm-" + std::filesystem::path(path).stem().string(),
          .apply = [model](std::string_view line) {
            std::string text;
            for (const std::string& piece : model->pieces(line)) text += piece + " ";
            return text;
          }};
}

BleuTokenizer tokenizer_for(const std::string& target_language) {
  if (target_language == "zh") return BleuTokenizer::Zh;
  if (target_language == "ja") return BleuTokenizer::JaMecab;
  if (target_language == "ko") return BleuTokenizer::KoMecab;
  return BleuTokenizer::V13a;
}

Tokenization tokenization_of_whole_lines(BleuTokenizer tokenizer, const TokenizerData& data) {
  switch (tokenizer) {
    case BleuTokenizer::Auto:
      return tokenization_of_whole_lines(tokenizer_for(data.target_language), data);
    case BleuTokenizer::V13a:
      return {"13a", tokenize_13a};
    case BleuTokenizer::Intl:
      return {"intl", tokenize_intl};
    case BleuTokenizer::Zh:
      return {"zh", tokenize_zh};
    case BleuTokenizer::Char:
      return {"char", tokenize_char};
    case BleuTokenizer::Spm:
      return spm_tokenization(data.spm_model);
    case BleuTokenizer::JaMecab:
      return mecab_tokenization(MecabLanguage::Japanese, data.mecab_dictionary);
    case BleuTokenizer::KoMecab:
      return mecab_tokenization(MecabLanguage::Korean, data.mecab_dictionary);
    case BleuTokenizer::None:
      break;
  }
  return {"none", [](std::string_view line) { return std::string(line); }};
}

}  // namespace

Tokenization tokenization_of(BleuTokenizer tokenizer, const TokenizerData& data) {
  Tokenization found = tokenization_of_whole_lines(tokenizer, data);
  found.apply = [apply = std::move(found.apply)](std::string_view line) {
    return apply(strip_right(line));
  };
  return found;
}

}  // namespace dragoman
