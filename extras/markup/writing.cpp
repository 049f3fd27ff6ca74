#include "extras/markup/writing.h"

#include "extras/markup/markdown_writing.h"

namespace dragoman {

namespace {

constexpr std::string_view kNoBreakSpace = "\u00A0";

/// Whether the text goes on with a blank at an offset, or ends.
bool blank_at(std::string_view text, std::size_t offset) {
  return offset >= text.size() || text[offset] == ' ' || text[offset] == '\n';
}

std::string html_text(std::string_view text, const BareSigns& bare) {
  std::string written;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '&' && !(bare.ampersand && blank_at(text, i + 1)))
      written += "&amp;";
    else if (c == '<')
      written += "&lt;";
    else if (c == '>' && !bare.greater)
      written += "&gt;";
    else if (text.substr(i).starts_with(kNoBreakSpace))
      written += "&nbsp;", ++i;
    else
      written += c;
  }
  return written;
}

std::string html_attribute(std::string_view text, std::string_view source) {
  const char quote = source.starts_with('\'') ? '\'' : '"';
  std::string written(1, quote);
  for (const char c : text) {
    if (c == quote)
      written += quote == '"' ? "&quot;" : "&#39;";
    else if (c == '&')
      written += "&amp;";
    else if (c == '<')
      written += "&lt;";
    else
      written += c;
  }
  return written + quote;
}

std::string xml_text(std::string_view text) {
  std::string written;
  for (const char c : text) {
    if (c == '&')
      written += "&amp;";
    else if (c == '<')
      written += "&lt;";
    else if (c == '>')
      written += "&gt;";
    else if (static_cast<unsigned char>(c) >= ' ')  // XML has no other control characters
      written += c;
  }
  return written;
}

}  // namespace

BareSigns bare_signs(std::string_view html) {
  return {.ampersand = html.find("& ") != std::string_view::npos,
          .greater = html.find(" > ") != std::string_view::npos};
}

std::string po_string(std::string_view text) {
  std::string written;
  for (const char c : text) {
    if (c == '"' || c == '\\') written += '\\';
    if (c == '\n')
      written += "\\n";
    else if (c == '\t')
      written += "\\t";
    else if (c == '\r')
      written += "\\r";
    else if (static_cast<unsigned char>(c) < ' ')
      written += {'\\', '0', static_cast<char>('0' + c / 8), static_cast<char>('0' + c % 8)};
    else
      written += c;
  }
  return written;
}

std::string written_text(std::string_view text, Writing writing, const WritingPlace& place) {
  switch (writing) {
    case Writing::HtmlText:
      return html_text(text, place.bare);
    case Writing::HtmlAttribute:
      return html_attribute(text, place.source);
    case Writing::XmlText:
      return xml_text(text);
    case Writing::PoString:
      return po_string(text);
    case Writing::MarkdownTitle:
      return markdown_title(text, place.source);
    case Writing::MarkdownText:
    case Writing::MarkdownCell:
      return markdown_text(text, writing, place);
    case Writing::Plain:
      return std::string(text);
  }
  return {};
}

}  // namespace dragoman
