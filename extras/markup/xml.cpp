#include "extras/markup/xml.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

using Kind = MarkupToken::Kind;

bool has_text(const MarkupToken& token) {
  return token.kind == Kind::Text && !strip(token.text).empty();
}

bool begins_content(const MarkupToken& token) {
  return token.kind == Kind::Opens || (token.kind == Kind::Kept && !token.name.empty());
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

/// An element that is kept, by its attribute or its name, is one token with all in it.
std::vector<MarkupToken> with_kept(std::vector<MarkupToken> tokens,
                                   const MarkupOptions::Names& names) {
  std::vector<MarkupToken> all;
  std::size_t depth = 0;  // in a kept element
  for (MarkupToken& token : tokens) {
    const bool is_named =
        !token.name.empty() && names.contains(token.name) && token.kind != Kind::Closes;
    const bool is_kept = depth > 0 || is_named || token.kind == Kind::Kept;
    const std::size_t deeper = is_kept && begins_content(token) ? 1 : 0;
    const std::size_t ends = depth > 0 && token.kind == Kind::Closes ? 1 : 0;
    if (depth == 0) {
      all.push_back(std::move(token));
      if (is_kept) all.back().kind = Kind::Kept;
    } else {
      all.back().source.end = token.source.end;
      if (token.kind == Kind::Text || token.kind == Kind::Kept) all.back().text += token.text;
    }
    depth = depth + deeper - ends;
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
