#include "extras/markup/text_tokens.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "extras/markup/ascii.h"
#include "extras/markup/format_arguments.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

bool is_name(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '.'; }

// Each of the next three looks for the end of its kind only as far as another might begin. So no
// byte is looked at for more than one begin of a kind.

/// `<b>`, `</font>`, `<a href="x">`; 0 where there is none.
std::size_t tag_length(std::string_view text) {
  if (!text.starts_with('<')) return 0;
  const std::size_t name = text.starts_with("</") ? 2 : 1;
  if (name >= text.size() || !is_ascii_letter(text[name])) return 0;
  const std::size_t end = text.find_first_of("<>", name);
  return end == std::string_view::npos || text[end] == '<' ? 0 : end + 1;
}

/// {\an8}.
std::size_t position_length(std::string_view text) {
  if (!text.starts_with("{\\")) return 0;
  const std::size_t end = text.find_first_of("{}", 1);
  return end == std::string_view::npos || text[end] == '{' ? 0 : end + 1;
}

/// A control character, or a terminal's sequence: ESC[1m.
std::size_t control_length(std::string_view text) {
  const char first = text.front();
  if (static_cast<unsigned char>(first) >= ' ' || first == '\t' || first == '\n' || first == '\r')
    return 0;
  if (!text.starts_with("\x1b[")) return 1;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end < text.size() && is_ascii_letter(text[end]) ? end + 1 : 1;
}

MarkupToken tag_token(std::string_view tag) {
  const bool ends = tag.starts_with("</");
  const std::size_t begin = ends ? 2 : 1;
  const std::size_t end =
      std::find_if_not(tag.begin() + static_cast<std::ptrdiff_t>(begin), tag.end(), is_name) -
      tag.begin();
  std::string name = ascii_lower(tag.substr(begin, end - begin));
  const bool is_single = tag.ends_with("/>") || name == "br" || name == "img" || name == "hr";
  return {.kind = is_single ? Kind::Single
                  : ends    ? Kind::Closes
                            : Kind::Opens,
          .source = {},
          .name = std::move(name)};
}

/// The directive of a format with the letters that follow it; or a placeholder of any kind.
FormatDirective placeholder_at(std::string_view text, std::size_t offset,
                               const FormatSyntaxes& formats) {
  using enum FormatDirective::Argument;
  FormatDirective directive = format_directive(formats, text, offset);
  // Of Java, where any text stands in quotes.
  if (directive.length > 0 && text[offset] != '\'') {
    const std::size_t end = offset + directive.length;
    if (directive.argument != None && is_ascii_letter(text[end - 1]))
      directive.length = end_of_ascii_letters(text, end) - offset;
    return directive;
  }
  const std::size_t length = placeholder_length(text, offset);
  const bool takes_next = takes_next_argument(text.substr(offset, length));
  return {.length = length, .argument = takes_next ? Next : Named};
}

}  // namespace

std::vector<MarkupToken> text_tokens(std::string_view text, AlsoKept also,
                                     const FormatSyntaxes& formats) {
  std::vector<MarkupToken> tokens;
  const auto add = [&](MarkupToken token, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    token.source = {begin, end};
    if (token.kind == Kind::Text || token.kind == Kind::Kept)
      token.text = text.substr(begin, end - begin);
    tokens.push_back(std::move(token));
  };
  std::size_t begin = 0, place = 0, argument = 0;
  while (place < text.size()) {
    const std::string_view rest = text.substr(place);
    const std::size_t tag = tag_length(rest);
    const std::size_t single =
        also == AlsoKept::Positions ? position_length(rest) : control_length(rest);
    const FormatDirective placeholder =
        also == AlsoKept::Placeholders ? placeholder_at(text, place, formats) : FormatDirective{};
    const std::size_t length = std::max({tag, single, placeholder.length});
    if (length == 0) {
      ++place;
      continue;
    }
    add({.kind = Kind::Text, .source = {}}, begin, place);
    begin = place + length;
    if (tag > 0)
      add(tag_token(rest.substr(0, tag)), place, begin);
    else if (single > 0)
      add({.kind = Kind::Single, .source = {}}, place, begin);
    else
      add({.kind = Kind::Kept,
           .source = {},
           .argument = placeholder.argument == FormatDirective::Argument::Next ? ++argument : 0,
           .takes_number = placeholder.takes_number},
          place, begin);
    place = begin;
  }
  add({.kind = Kind::Text, .source = {}}, begin, text.size());
  return tokens;
}

}  // namespace dragoman
