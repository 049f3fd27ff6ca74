// Tokens of a block of Markdown.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/markdown_blocks.h"
#include "extras/markup/markdown_masks.h"
#include "extras/markup/markup_token.h"

namespace dragoman {

/// A text that is added to the document.
struct Insertion {
  std::size_t place;
  std::string text;
};

struct MarkdownTokens {
  std::vector<MarkupToken> tokens;
  std::vector<Insertion> insertions = {};  ///< in their order
};

/// The tokens of a block, from its first to its last. md4c says where texts stand, and which spans
/// begin and end between them; the marks themselves are found here. Nothing where they are not as
/// expected: such a block is left alone.
std::optional<MarkdownTokens> markdown_tokens(const MaskedMarkdown& markdown,
                                              const MarkdownBlock& block);

}  // namespace dragoman
