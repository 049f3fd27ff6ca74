#include "tokenizer/lowercase_rules.h"

#include <utf8proc.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>

#include "base/utf8.h"

namespace dragoman {

namespace {

using Form = utf8proc_uint8_t*(const utf8proc_uint8_t*);

/// `text` in a Unicode normalisation form; it has no NUL.
std::u32string in_form(Form* form, std::u32string_view text) {
  const std::string bytes = to_utf8(text);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> formed(
      form(reinterpret_cast<const utf8proc_uint8_t*>(bytes.c_str())), &std::free);
  if (!formed) throw std::bad_alloc();
  return code_points(reinterpret_cast<const char*>(formed.get()));
}

/// Spellings of a character: itself, fully decomposed, and with only its last marks decomposed.
std::set<std::u32string> spellings(char32_t character) {
  std::set<std::u32string> all = {std::u32string(1, character)};
  const std::u32string parts = in_form(utf8proc_NFD, *all.begin());
  for (std::size_t composed = 1; composed < parts.size(); ++composed)
    all.insert(in_form(utf8proc_NFC, parts.substr(0, composed)) + parts.substr(composed));
  return all;
}

std::string hexadecimal(std::u32string_view text) {
  std::string numbers;
  for (const char32_t c : text) {
    char number[12];
    std::snprintf(number, sizeof number, "%s%X", numbers.empty() ? "" : " ",
                  static_cast<unsigned>(c));
    numbers += number;
  }
  return numbers;
}

/// Whether Unicode gives the code point a meaning, and text may have it.
bool is_character(char32_t code_point) {
  const std::string_view category = general_category(code_point);
  return code_point != 0 && category != "Cn" && category != "Cs" && category != "Co";
}

}  // namespace

std::string lowercase_rules(const std::function<std::string(std::string_view)>& normalise) {
  std::string rules;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (!is_character(c)) continue;
    const std::u32string normal = code_points(lower_case(normalise(to_utf8({&c, 1}))));
    for (const std::u32string& spelling : spellings(c))
      if (spelling != normal) rules += hexadecimal(spelling) + '\t' + hexadecimal(normal) + '\n';
  }
  return rules;
}

bool lower_cases(const Tokenizer& tokenizer) {
  return tokenizer.decode(tokenizer.encode("A")) == "a";
}

}  // namespace dragoman
