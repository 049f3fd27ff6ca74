#include "markup/text_tokens.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "markup/ascii.h"
#include "markup/format_arguments.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

constexpr std::string_view kDigits = "0123456789";

// Each of these looks for the end of its kind only as far as another might begin. So no byte is
// looked at for more than one begin of a kind.

bool is_name(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '.'; }

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

/// {0}, {name}, {0:.2f}, {name!r}, {{name}}.
std::size_t brace_length(std::string_view text) {
  const std::size_t braces = text.starts_with("{{") ? 2 : 1;
  const std::size_t end = text.find_first_of("{} \n", braces);
  if (!text.starts_with('{') || end == std::string_view::npos || text[end] != '}') return 0;
  const bool closes = text.substr(end).starts_with(braces == 2 ? "}}" : "}");
  return closes && (end > braces || braces == 1) ? end + braces : 0;
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

/// Where the name in front of a conversion ends, as in %(name)s and %<name>s, or the number of its
/// argument, as in %1$s; 0: it does not end. `text` begins with a percent sign.
std::size_t end_of_name(std::string_view text) {
  constexpr std::string_view kOpening = "(<{", kClosing = ")>}";
  const std::size_t kind = kOpening.find(text.size() > 1 ? text[1] : ' ');
  if (kind < kOpening.size() && !text.starts_with("%<PRI")) {
    const std::size_t end = text.find_first_of(std::string("%\n") + kClosing[kind], 2);
    return end == std::string_view::npos || text[end] != kClosing[kind] ? 0 : end + 1;
  }
  const std::size_t dollar = std::min(text.find_first_not_of(kDigits, 1), text.size() - 1);
  return dollar > 1 && text[dollar] == '$' ? dollar + 1 : 1;
}

/// printf's conversions and those with names: %s, %1$d, %-5.2f, %<PRIu64>, %(name)s, %{name}, %%.
std::size_t conversion_length(std::string_view text) {
  if (text.starts_with("%%")) return 2;
  std::size_t place = end_of_name(text);
  if (place == 0 || text[place - 1] == '}') return place;
  const auto skip = [&](std::string_view any) {
    place = std::min(text.find_first_not_of(any, place), text.size());
  };
  skip("-+#0");
  skip("0123456789.*");
  if (text.substr(place).starts_with("<PRI")) {
    skip("<PRIdiouxXMAXLEASTF0123456789");
    return place < text.size() && text[place] == '>' ? place + 1 : 0;
  }
  skip("hlLqjzt");
  constexpr std::string_view kConversions = "diouxXeEfFgGaAcspn@";
  const bool converts = place < text.size() && kConversions.find(text[place]) < kConversions.size();
  return converts ? place + 1 : 0;
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

/// The end of the letters that follow a place.
std::size_t end_of_letters(std::string_view text, std::size_t place) {
  return static_cast<std::size_t>(
      std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(place), text.end(),
                       is_ascii_letter) -
      text.begin());
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
      directive.length = end_of_letters(text, end) - offset;
    return directive;
  }
  const std::size_t length = placeholder_length(text, offset);
  const bool takes_next = takes_next_argument(text.substr(offset, length));
  return {.length = length, .argument = takes_next ? Next : Named};
}

}  // namespace

std::size_t placeholder_length(std::string_view text, std::size_t offset) {
  const std::string_view rest = text.substr(offset);
  if (rest.starts_with("${")) {
    const std::size_t length = brace_length(rest.substr(1));
    return length > 0 ? length + 1 : 0;
  }
  if (rest.starts_with('{')) return brace_length(rest);
  if (!rest.starts_with('%')) return 0;
  const std::size_t length = conversion_length(rest);
  if (length == 0 || !is_ascii_letter(rest[length - 1])) return length;
  const std::size_t end = end_of_letters(rest, length);
  const bool is_percentage = offset > 0 && kDigits.find(text[offset - 1]) != std::string_view::npos;
  return is_percentage && end > length && length == 2 ? 0 : end;
}

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
