// The blocks of a Markdown document that have text, as md4c finds them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "extras/markup/byte_range.h"

namespace dragoman {

enum class MarkdownSpan { None, Emphasis, Strong, Strike, Link, Image, Code };

struct MarkdownEvent {
  enum class Kind {
    Text,
    Entity,  ///< &amp;
    Html,    ///< a tag, or a line of it
    SoftBreak,
    HardBreak,
    Opens,  ///< a span, whose place md4c does not say
    Closes,
  };

  Kind kind;
  MarkdownSpan span = MarkdownSpan::None;
  /// In the document; empty where there is none.
  ByteRange place = {};
};

/// A paragraph, a heading or a table cell.
struct MarkdownBlock {
  std::vector<MarkdownEvent> events = {};
  std::size_t earliest = 0;  ///< its begin is not before
  bool is_cell = false;
};

/// Throws Error where memory does not suffice.
std::vector<MarkdownBlock> markdown_blocks(std::string_view markdown);

}  // namespace dragoman
