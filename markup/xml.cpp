#include "markup/xml.h"

#include <set>
#include <string_view>
#include <utility>

#include "markup/word_fragments.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

bool has_text(const MarkupToken& token) {
  return token.kind == Kind::Text && token.text.find_first_not_of(" \t\r\n") != std::string::npos;
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
        token.kind == Kind::Opens || (token.kind == Kind::Single && !token.name.empty());
    if (is_element) open.back().children.insert(token.name);
    if (token.kind == Kind::Opens) open.emplace_back();
    if (token.kind == Kind::Closes) close();
  }
  close();
  return names;
}

/// An element and all in it is one token.
std::vector<MarkupToken> with_kept(std::vector<MarkupToken> tokens,
                                   const MarkupOptions::Names& names) {
  if (names.empty()) return tokens;
  std::vector<MarkupToken> all;
  std::size_t depth = 0;  // in a kept element
  for (MarkupToken& token : tokens) {
    const bool begins = depth == 0 && names.contains(token.name) &&
                        (token.kind == Kind::Opens || token.kind == Kind::Single);
    const Kind kind = token.kind;
    if (begins) {
      all.push_back(std::move(token));
      all.back().kind = Kind::Kept;
    } else if (depth == 0) {
      all.push_back(std::move(token));
      continue;
    } else {
      all.back().source.end = token.source.end;
      if (kind == Kind::Text) all.back().text += token.text;
    }
    if (kind == Kind::Opens) ++depth;
    if (kind == Kind::Closes) --depth;
  }
  return all;
}

}  // namespace

MarkupDocument parse_xml(std::string xml, const MarkupOptions& options) {
  MarkupDocument document{.bytes = std::move(xml)};
  std::vector<MarkupToken> tokens = xml_tokens(document.bytes);
  const std::set<std::string> beside_text = names_in_sentences(tokens);
  tokens = with_kept(std::move(tokens), options.ignore_tags);
  for (MarkupToken& token : tokens) {
    if (token.name.empty()) continue;
    const bool is_inline = options.non_splitting_tags.contains(token.name) ||
                           !options.outline_detection || beside_text.contains(token.name);
    if (options.splitting_tags.contains(token.name) || !is_inline) token.kind = Kind::Splits;
  }
  if (options.line_ends == LineEnds::Split)
    tokens = split_at_line_ends(document.bytes, std::move(tokens));
  document.passages = passages_of(document.bytes, tokens, Writing::XmlText);
  return document;
}

}  // namespace dragoman
