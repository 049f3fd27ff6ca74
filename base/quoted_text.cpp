#include "base/quoted_text.h"

#include <algorithm>
#include <charconv>

#include "base/lines.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

/// The byte that an escape of C stands for. `place` is just after the backslash, and moves to the
/// last character of the escape.
char meaning_of_escape(std::string_view string, std::size_t& place) {
  constexpr std::string_view kNames = "nrtabfv", kMeanings = "\n\r\t\a\b\f\v";
  constexpr std::string_view kOctal = "01234567", kHex = "0123456789abcdefABCDEF";
  if (const std::size_t known = kNames.find(string[place]); known != std::string_view::npos)
    return kMeanings[known];
  const bool is_hex = string[place] == 'x';
  const std::size_t begin = place + (is_hex ? 1 : 0);
  const std::size_t end = std::min({string.find_first_not_of(is_hex ? kHex : kOctal, begin),
                                    string.size(), is_hex ? string.size() : begin + 3});
  if (begin == end) return string[place];
  place = end - 1;
  const std::size_t last_byte = is_hex ? std::max(begin + 2, end) - 2 : begin;
  unsigned value = 0;
  std::from_chars(string.data() + last_byte, string.data() + end, value, is_hex ? 16 : 8);
  return static_cast<char>(value);
}

}  // namespace

std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string text;
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    char c = rest[i];
    if (c == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (c == '\\' && i + 1 < rest.size()) c = meaning_of_escape(rest, ++i);
    text += c;
  }
  return std::nullopt;
}

std::string_view po_header_field(std::string_view header, std::string_view name) {
  for (LineCursor lines(header); !lines.at_end();) {
    const std::string_view line = lines.next();
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':'))
      return strip(line.substr(name.size() + 1));
  }
  return {};
}

}  // namespace dragoman
