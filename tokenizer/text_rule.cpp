#include "tokenizer/text_rule.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/fields.h"
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

/// Canonically equivalent spellings of a character: itself, decomposed with its marks in any order
/// that means the same, and with only the last of these marks decomposed.
std::set<std::u32string> spellings(char32_t character) {
  std::set<std::u32string> all = {std::u32string(1, character)};
  const std::u32string parts = in_form(utf8proc_NFD, *all.begin());
  if (parts.size() < 2) return all;
  std::u32string order = parts;
  std::sort(order.begin() + 1, order.end());
  do {
    if (in_form(utf8proc_NFD, order) != parts) continue;
    for (std::size_t composed = 1; composed < order.size(); ++composed)
      all.insert(in_form(utf8proc_NFC, order.substr(0, composed)) + order.substr(composed));
  } while (std::next_permutation(order.begin() + 1, order.end()));
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

constexpr std::string_view kLowerSuffix = "_lower";

}  // namespace

std::string TextRule::name() const {
  const std::string_view plain =
      normalization == Normalization::None ? "identity" : name_of(normalization);
  return join_text(plain, lowercase ? kLowerSuffix : "");
}

std::string rule_table(const TextRule& rule,
                       const std::function<std::string(std::string_view)>& normalise) {
  std::string table;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (!is_character(c)) continue;
    std::string normal = to_utf8({&c, 1});
    if (rule.normalization == Normalization::Nfc)
      normal = to_utf8(in_form(utf8proc_NFC, {&c, 1}));
    else if (rule.normalization == Normalization::NmtNfkc)
      normal = normalise(normal);
    if (rule.lowercase) normal = lower_case(normal);
    const std::u32string characters = code_points(normal);
    const auto add = [&](const std::u32string& spelling) {
      if (spelling != characters)
        table += hexadecimal(spelling) + '\t' + hexadecimal(characters) + '\n';
    };
    if (rule.normalization == Normalization::None)
      add({c});
    else
      for (const std::u32string& spelling : spellings(c)) add(spelling);
  }
  return table;
}

std::string normalization_of(const TokenizerFacts& facts) {
  std::string_view name = facts.normalizer;
  if (name.ends_with(kLowerSuffix)) name.remove_suffix(kLowerSuffix.size());
  return name == "identity" || name.empty() ? "none" : std::string(name);
}

bool lower_cases(const Tokenizer& tokenizer) {
  return tokenizer.decode(tokenizer.encode("A")) == "a";
}

ChangedLines changed_lines(const Tokenizer& tokenizer, std::span<const std::string> lines) {
  ChangedLines changed;
  bool only_space = true;  // in all changed lines so far
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string written = tokenizer.decode(tokenizer.encode(lines[i]));
    if (written == lines[i]) continue;
    ++changed.count;
    const bool is_example =
        changed.first == 0 || (only_space && !differ_in_space_alone(lines[i], written));
    if (!is_example) continue;
    only_space = differ_in_space_alone(lines[i], written);
    changed.first = static_cast<std::int64_t>(i) + 1;
    changed.example = described_change(lines[i], written);
  }
  return changed;
}

std::string described_change(std::string_view line, std::string_view written) {
  // Equal bytes at both ends, but whole words of each text.
  std::size_t begin = 0, end = 0;
  const std::size_t shorter = std::min(line.size(), written.size());
  while (begin < shorter && line[begin] == written[begin]) ++begin;
  while (end < shorter - begin && line[line.size() - 1 - end] == written[written.size() - 1 - end])
    ++end;
  begin = line.substr(0, begin).find_last_of(' ') + 1;  // 0 for npos
  const std::size_t space = line.substr(line.size() - end).find(' ');
  end = space == line.npos ? 0 : end - space;
  const auto part = [&](std::string_view text) {
    constexpr std::size_t kLongest = 60;
    const std::string_view all = text.substr(begin, text.size() - end - begin);
    const std::string_view shown = all.substr(0, character_start(all, kLongest));
    return join_text('"', shown, shown.size() < all.size() ? "..." : "", '"');
  };
  return join_text(part(line), " becomes ", part(written));
}

bool differ_in_space_alone(std::string_view a, std::string_view b) {
  const auto without_space = [](std::string_view text) {
    std::u32string characters = code_points(text);
    std::erase_if(characters, is_space);
    return characters;
  };
  return without_space(a) == without_space(b);
}

}  // namespace dragoman
