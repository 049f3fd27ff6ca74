#include "inference/demands.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/language_codes.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr char32_t kNoBreakSpace = 0xA0, kNarrowNoBreakSpace = 0x202F;

struct Languages {
  std::string_view codes;  // each between blanks
  NumberFormat format;
};

constexpr std::array kLanguages = {
    Languages{" en he hi ja ko th zh ", {',', '.'}},
    Languages{" ca da de el es gl hr id is it mk nl pt ro sl sr tr vi ", {'.', ','}},
    Languages{" be bg cs et fi hu lt lv nb nn no pl ru sk sv uk ", {kNoBreakSpace, ','}},
    Languages{" fr ", {kNarrowNoBreakSpace, ','}},
};

NumberFormat format_of(std::string_view language, std::string_view languages) {
  std::string code = " ";
  code.append(language).append(" ");
  for (const auto& [codes, format] : kLanguages)
    if (codes.find(code) != codes.npos) return format;
  std::string known;
  for (const auto& [codes, format] : kLanguages) known += codes.substr(1);
  throw UsageError("--number-format ", languages, ": must be two of ", known,
                   "with a hyphen between them, as in en-de");
}

bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

bool groups(char32_t c, const NumberFormat& format) {
  const bool by_spaces = format.group == kNoBreakSpace || format.group == kNarrowNoBreakSpace;
  return c == format.group || (by_spaces && (c == kNoBreakSpace || c == kNarrowNoBreakSpace));
}

/// The number of digits from `begin` on.
std::size_t digits(std::u32string_view text, std::size_t begin) {
  const auto end =
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_digit);
  return static_cast<std::size_t>(end - text.begin()) - begin;
}

}  // namespace

NumberConversion::NumberConversion(std::string_view languages) {
  const std::size_t hyphen = std::min(languages.find('-'), languages.size());
  source_ = format_of(languages.substr(0, hyphen), languages);
  target_ = format_of(languages.substr(std::min(hyphen + 1, languages.size())), languages);
}

std::string NumberConversion::operator()(std::string_view text) const {
  std::u32string number = code_points(text);
  std::size_t at = digits(number, 0);
  const bool may_have_groups = at >= 1 && at <= 3;
  if (at == 0) return std::string(text);
  while (may_have_groups && at < number.size() && groups(number[at], source_) &&
         digits(number, at + 1) == 3) {
    number[at] = target_.group;
    at += 4;
  }
  if (at < number.size()) {
    const bool has_decimals =
        number[at] == source_.decimal && at + 1 + digits(number, at + 1) == number.size();
    if (!has_decimals || at + 1 == number.size()) return std::string(text);
    number[at] = target_.decimal;
  }
  return to_utf8(number);
}

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

std::string number_format_of(const std::string& choice, const TextRecord& model) {
  if (choice != "auto") return choice;
  if (model.source_language.empty() || model.target_language.empty())
    throw UsageError("--number-format auto: the model's file does not say its languages; name ",
                     "them, as en-de");
  return LanguagePair{language_of(model.source_language), language_of(model.target_language)}
      .name();
}

Demands demands_of(DemandChoices choices) {
  const std::string& languages = choices.number_format;
  auto numbers =
      languages.empty() ? std::optional<NumberConversion>() : NumberConversion(languages);
  if (numbers && !choices.protect) throw UsageError("--number-format: needs --protect");
  for (std::string& text : choices.avoid) text = strip(text);
  return {.terms = std::move(choices.terms),
          .protects = choices.protect,
          .numbers = numbers,
          .phrase_policy = choices.terms_force ? PhrasePolicy::Always : PhrasePolicy::Fluent,
          .avoided = std::move(choices.avoid)};
}

}  // namespace dragoman
