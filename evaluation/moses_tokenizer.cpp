#include "evaluation/moses_tokenizer.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/utf8.h"
#include "evaluation/separate.h"
#include "evaluation/words.h"

namespace dragoman {

namespace {

/// Stands for a dot of "...", which is one token; it is no Unicode character.
constexpr char32_t kDotOfMany = 0x110000;

bool is_letter(char32_t c) {
  if (c >= kDotOfMany) return true;  // Moses hides such dots in words
  const std::string_view category = general_category(c);
  return category[0] == 'L' || category == "Nl";
}

bool is_number(char32_t c) { return c < kDotOfMany && general_category(c)[0] == 'N'; }

/// Whether a character belongs to a word: vowel signs of Indian scripts do, diacritics that stand
/// alone do not.
bool is_of_a_word(char32_t c) {
  constexpr std::array<CodePointRange, 5> kDiacritics = {{
      {0x0300, 0x036F},
      {0x1AB0, 0x1AFF},
      {0x1DC0, 0x1DFF},
      {0x20D0, 0x20FF},
      {0xFE20, 0xFE2F},
  }};
  return is_letter(c) || general_category(c) == "Nd" ||
         (general_category(c)[0] == 'M' && !is_in(c, kDiacritics));
}

bool is_apostrophe(char32_t c) { return c == '\''; }

/// Single spaces between words, without control characters.
std::u32string clean(std::string_view line) {
  std::u32string text;
  for (const std::string_view word : split_words(line)) {
    if (!text.empty()) text.push_back(' ');
    for (const char32_t c : code_points(word))
      if (c >= ' ') text.push_back(c);
  }
  return text;
}

/// Two or more dots become a word of their own.
std::u32string separate_many_dots(const std::u32string& text) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_not_of(U'.', i), text.size());
    if (end < i + 2) {
      result.push_back(text[i++]);
      continue;
    }
    result.push_back(' ');
    result.append(end - i, kDotOfMany);
    if (end < text.size()) result.push_back(' ');
    i = end;
  }
  return result;
}

std::u32string separate_commas(std::u32string text) {
  const auto is_comma = [](char32_t c) { return c == ','; };
  const auto is_no_number = [](char32_t c) { return !is_number(c); };
  text = separate_pairs(text, Separate::Second, is_no_number, is_comma);
  text = separate_pairs(text, Separate::First, is_comma, is_no_number);
  if (text.size() > 1 && text.back() == ',' && is_number(text[text.size() - 2]))
    text.insert(text.size() - 1, 1, ' ');
  return text;
}

enum class Apostrophe { Alone, BeginsWord, EndsWord };

/// Separates each apostrophe between two characters that fit. Matches are found from the left and
/// do not overlap.
template <class IsLeft, class IsRight>
std::u32string place_apostrophes(const std::u32string& text, Apostrophe place, IsLeft is_left,
                                 IsRight is_right) {
  std::u32string result;
  for (std::size_t i = 0; i < text.size();) {
    if (i + 2 >= text.size() || !is_left(text[i]) || !is_apostrophe(text[i + 1]) ||
        !is_right(text[i + 2])) {
      result.push_back(text[i++]);
      continue;
    }
    result.push_back(text[i]);
    if (place != Apostrophe::EndsWord) result.push_back(' ');
    result.push_back('\'');
    if (place != Apostrophe::BeginsWord) result.push_back(' ');
    result.push_back(text[i + 2]);
    i += 3;
  }
  return result;
}

std::u32string separate_apostrophes(std::u32string text, std::string_view language) {
  constexpr std::array<std::string_view, 4> kElisions = {"fr", "it", "ca", "ga"};
  const bool english = language == "en";
  if (!english && std::find(kElisions.begin(), kElisions.end(), language) == kElisions.end())
    return separate_each(text, is_apostrophe);
  const auto is_other = [](char32_t c) { return !is_letter(c); };
  const auto is_neither = [](char32_t c) { return !is_letter(c) && !is_number(c); };
  text = place_apostrophes(text, Apostrophe::Alone, is_other, is_other);
  text = english ? place_apostrophes(text, Apostrophe::Alone, is_neither, is_letter)
                 : place_apostrophes(text, Apostrophe::Alone, is_other, is_letter);
  text = place_apostrophes(text, Apostrophe::Alone, is_letter, is_other);
  if (!english) return place_apostrophes(text, Apostrophe::EndsWord, is_letter, is_letter);
  text = place_apostrophes(text, Apostrophe::BeginsWord, is_letter, is_letter);
  return place_apostrophes(text, Apostrophe::BeginsWord, is_number,
                           [](char32_t c) { return c == 's'; });
}

/// Whether the period at the end of a word is a word of its own.
bool period_is_apart(std::u32string_view word, std::u32string_view next) {
  if (word.size() < 2 || word.back() != '.') return false;
  word.remove_suffix(1);
  const bool is_abbreviation =
      word.find(U'.') != word.npos && std::any_of(word.begin(), word.end(), is_letter);
  return !is_abbreviation && (next.empty() || general_category(next.front()) != "Ll");
}

std::vector<std::u32string_view> words_of(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (std::size_t begin = 0; (begin = text.find_first_not_of(U' ', begin)) != text.npos;) {
    const std::size_t end = std::min(text.find(U' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

/// The words with single spaces, periods apart.
std::u32string separate_periods(std::u32string_view text) {
  const auto words = words_of(text);
  std::u32string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result.push_back(' ');
    result += words[i];
    const auto next = i + 1 < words.size() ? words[i + 1] : std::u32string_view();
    if (period_is_apart(words[i], next)) result.insert(result.size() - 1, 1, ' ');
  }
  if (result.ends_with(U".'")) result.replace(result.size() - 2, 2, U" . '");
  return result;
}

}  // namespace

std::string tokenize_moses(std::string_view line, std::string_view language) {
  const auto is_special = [](char32_t c) {
    return !is_of_a_word(c) && std::u32string_view(U" .'`,-").find(c) == std::string::npos;
  };
  std::u32string text = separate_each(clean(line), is_special);
  text = separate_commas(separate_many_dots(text));
  text = separate_periods(separate_apostrophes(std::move(text), language));
  std::replace(text.begin(), text.end(), kDotOfMany, U'.');
  return to_utf8(text);
}

std::string split_compounds(std::string_view tokens) {
  std::string result;
  std::size_t free = 0;  // where the next match may begin
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool inside = tokens[i] == '-' && i > free && i + 1 < tokens.size() &&
                        tokens[i - 1] != ' ' && tokens[i + 1] != ' ';
    if (!inside) {
      result.push_back(tokens[i]);
      continue;
    }
    result += " ##AT##-##AT## ";
    result.push_back(tokens[++i]);
    free = i + 1;
  }
  return result;
}

}  // namespace dragoman
