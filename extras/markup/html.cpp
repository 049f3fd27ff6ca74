#include "extras/markup/html.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "extras/markup/html_charset.h"

namespace dragoman {

MarkupDocument parse_html(std::string html, const MarkupOptions& options) {
  MarkupDocument document{.bytes = with_utf8_declared(std::move(html))};
  std::vector<MarkupToken> tokens = html_tokens(document.bytes, options);
  const bool is_plain = std::ranges::all_of(tokens, [&](const MarkupToken& token) {
    return token.kind == MarkupToken::Kind::Text ||
           token.source.of(document.bytes) == kByteOrderMark;
  });
  const bool splits =
      options.line_ends == LineEnds::ByTags ? is_plain : options.line_ends == LineEnds::Split;
  if (splits) tokens = split_at_line_ends(document.bytes, std::move(tokens));
  document.passages = passages_of(document.bytes, tokens, Writing::HtmlText);
  return document;
}

}  // namespace dragoman
