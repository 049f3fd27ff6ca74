#include "inference/number_format.h"

#include <algorithm>
#include <array>

#include "base/error.h"
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

/// How many digits stand from `begin` on.
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

}  // namespace dragoman
