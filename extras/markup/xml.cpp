// XML. The tags themselves say where sentences begin and end, unless the root element says that it
// is a format of its own.

#include "extras/markup/markup_formats.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "extras/markup/template_marks.h"
#include "extras/markup/xml_formats.h"
#include "extras/markup/xml_tokens.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

// ---- which elements split sentences, and which are kept -----------------------------------------

bool has_text(const MarkupToken& token) {
  return token.kind == Kind::Text && !strip(token.text).empty();
}

/// The names of elements that stand beside text in their parents.
std::set<std::string> names_in_sentences(const std::vector<MarkupToken>& tokens) {
  struct Parent {
    bool has_text = false;
    std::set<std::string> children = {};
  };
  std::set<std::string> names;
  std::vector<Parent> open(1);
  const auto close = [&] {
    if (open.back().has_text) names.merge(open.back().children);
    open.pop_back();
  };
  for (const MarkupToken& token : tokens) {
    if (has_text(token)) open.back().has_text = true;
    const bool is_element =
        begins_content(token) || (token.kind == Kind::Single && !token.name.empty());
    if (is_element) open.back().children.insert(token.name);
    if (begins_content(token)) open.emplace_back();
    if (token.kind == Kind::Closes) close();
  }
  close();
  return names;
}

/// The texts are cut at the marks of templates in them.
std::vector<MarkupToken> with_marks(std::string_view xml, std::vector<MarkupToken> tokens) {
  std::vector<MarkupToken> all;
  for (MarkupToken& token : tokens) {
    std::vector<MarkupToken> parts;
    if (token.kind == Kind::Text) parts = texts_and_marks(token.source.of(xml));
    if (parts.size() < 2) {  // a text that is a reference has no text of its own in the document
      all.push_back(std::move(token));
      continue;
    }
    const std::size_t offset = token.source.begin;
    for (MarkupToken& part : parts) {
      part.source = {part.source.begin + offset, part.source.end + offset};
      if (part.kind == Kind::Text) part.text = decoded_xml(xml, part.source).text;
      all.push_back(std::move(part));
    }
  }
  return all;
}

}  // namespace

MarkupDocument parse_xml(std::string xml, const MarkupOptions& options) {
  MarkupDocument document{.bytes = std::move(xml), .charset = options.charset};
  std::vector<MarkupToken> tokens = xml_tokens(document.bytes, options.charset);
  const XmlFormat format = xml_format(document.bytes, tokens);
  if (format != XmlFormat::Other) {
    tokens = with_kept(std::move(tokens), options.ignore_tags);
    if (format == XmlFormat::Rss)
      add_rss_texts(tokens, document);
    else if (format == XmlFormat::Android)
      add_android_strings(std::move(tokens), document);
    else
      add_bilingual_units(format, tokens, document);
    return document;
  }
  const std::set<std::string> beside_text = names_in_sentences(tokens);
  tokens = with_kept(std::move(tokens), options.ignore_tags);
  for (MarkupToken& token : tokens) {
    if (token.name.empty()) continue;
    const bool is_inline = options.non_splitting_tags.contains(token.name) ||
                           !options.outline_detection || beside_text.contains(token.name);
    if (options.splitting_tags.contains(token.name) || !is_inline) token.kind = Kind::Splits;
  }
  tokens = with_marks(document.bytes, std::move(tokens));
  if (options.line_ends == LineEnds::Split)
    tokens = split_at_line_ends(document.bytes, std::move(tokens));
  document.passages = passages_of(document.bytes, tokens, Writing::XmlText);
  return document;
}

}  // namespace dragoman
