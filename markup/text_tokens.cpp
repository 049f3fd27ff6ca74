#include "markup/text_tokens.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

constexpr std::string_view kDigits = "0123456789";

// Each of these looks for the end of its kind only as far as another might begin. So no byte is
// looked at for more than one begin of a kind.

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

/// `<b>`, `</font>`, `<a href="x">`; 0 where there is none.
std::size_t tag_length(std::string_view text) {
  if (!text.starts_with('<')) return 0;
  const std::size_t name = text.starts_with("</") ? 2 : 1;
  if (name >= text.size() || !is_letter(text[name])) return 0;
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
  return end < text.size() && is_letter(text[end]) ? end + 1 : 1;
}

/// printf's conversions and Python's names: %s, %1$d, %-5.2f, %lu, %(name)s, %%.
std::size_t conversion_length(std::string_view text) {
  if (text.starts_with("%%")) return 2;
  std::size_t place = 1;
  if (text.substr(1).starts_with('(')) {
    place = text.find_first_of("%)", 2);
    if (place == std::string_view::npos || text[place] == '%') return 0;
    ++place;
  } else if (const std::size_t dollar = text.find_first_not_of(kDigits, 1);
             dollar != std::string_view::npos && dollar > 1 && text[dollar] == '$') {
    place = dollar + 1;
  }
  const auto skip = [&](std::string_view any) {
    place = std::min(text.find_first_not_of(any, place), text.size());
  };
  skip("-+#0");
  skip("0123456789.*");
  skip("hlLqjzt");
  constexpr std::string_view kConversions = "diouxXeEfFgGaAcspn@";
  if (place >= text.size() || kConversions.find(text[place]) == std::string_view::npos) return 0;
  // "50%discount" has no placeholder: a word goes on.
  const bool goes_on = place + 1 < text.size() && is_letter(text[place + 1]) && place == 1;
  return goes_on ? 0 : place + 1;
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

}  // namespace

std::size_t placeholder_length(std::string_view text) {
  if (text.starts_with("${")) {
    const std::size_t length = brace_length(text.substr(1));
    return length > 0 ? length + 1 : 0;
  }
  if (text.starts_with('{')) return brace_length(text);
  return text.starts_with('%') ? conversion_length(text) : 0;
}

std::vector<MarkupToken> text_tokens(std::string_view text, AlsoKept also) {
  std::vector<MarkupToken> tokens;
  const auto add = [&](MarkupToken token, std::size_t begin, std::size_t end) {
    if (begin == end) return;
    token.source = {begin, end};
    if (token.kind == Kind::Text || token.kind == Kind::Kept)
      token.text = text.substr(begin, end - begin);
    tokens.push_back(std::move(token));
  };
  std::size_t begin = 0, place = 0;
  while (place < text.size()) {
    const std::string_view rest = text.substr(place);
    const std::size_t tag = tag_length(rest);
    const std::size_t single =
        also == AlsoKept::Positions ? position_length(rest) : control_length(rest);
    const std::size_t placeholder = also == AlsoKept::Placeholders ? placeholder_length(rest) : 0;
    const std::size_t length = std::max({tag, single, placeholder});
    if (length == 0) {
      ++place;
      continue;
    }
    add({.kind = Kind::Text, .source = {}}, begin, place);
    begin = place + length;
    if (tag > 0)
      add(tag_token(rest.substr(0, tag)), place, begin);
    else
      add({.kind = single > 0 ? Kind::Single : Kind::Kept, .source = {}}, place, begin);
    place = begin;
  }
  add({.kind = Kind::Text, .source = {}}, begin, text.size());
  return tokens;
}

}  // namespace dragoman
