// What a Markdown document consists of: the blocks and spans that md4c finds, the markup that
// CommonMark does not know (footnotes, front matter, GitHub's alerts), and the ends of links.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"

namespace dragoman {

inline constexpr std::string_view kLineEnds = "\r\n";

struct MaskedMarkdown {
  std::string_view original;
  /// As long as the original. Labels of footnotes ([^1]) and alerts ([!NOTE]), mathematics,
  /// templates and the like are full stops; lines of these alone are empty headings. Front matter
  /// is blank. A footnote is an item of a list, and so is an admonition of MkDocs (!!! note). At
  /// the beginning of a line the name of a block of HTML that md4c does not find (<thead>) is one
  /// that it finds.
  std::string text = {};
  struct Label {
    enum class Role {
      Mark,    ///< stands within a sentence: [^1], :smile:
      Splits,  ///< begins or ends a text: the end of [^1]:, [!NOTE], {#id}
      Text,    ///< is a part of its sentence: $x$, {{ name }}, [[Page]]
    };
    ByteRange place;
    Role role;
  };
  std::vector<Label> labels = {};  ///< in order
};

/// The view must outlive the result.
MaskedMarkdown masked_markdown(std::string_view markdown);

/// The length of the mathematics ($x$, $$x$$) that stands at an offset of a line, as GitHub reads
/// it; 0 if there is none.
std::size_t math_length(std::string_view text, std::size_t offset);

/// The length of [^1]: at the beginning of a text; 0 if there is none.
std::size_t footnote_begin_length(std::string_view text);

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
  ByteRange place = {};  ///< in the document; empty if there is none
};

/// A paragraph, a heading or a table cell.
struct MarkdownBlock {
  std::vector<MarkdownEvent> events = {};
  std::size_t earliest = 0;  ///< it does not begin before this
  bool is_cell = false;
};

/// The blocks that have text. Throws Error if memory runs out.
std::vector<MarkdownBlock> markdown_blocks(std::string_view markdown);

/// What no translation may change: all blocks in order; then the code, the tags and the addresses
/// of links within them, and the labels of masked_markdown(), sorted. `markdown` is not masked.
/// Throws Error as markdown_blocks() does.
std::vector<std::string> markdown_structure(std::string_view markdown);

/// The end of a link or an image, after its text.
struct MarkdownLinkTail {
  std::size_t end;       ///< after all of the link
  ByteRange title = {};  ///< with its quotes, if it has one on one line
  /// The text is the label: [text] or [text][].
  bool has_text_as_label = false;
};

/// `place` is that of "]", which ends the text of a link: "](url "title")", "][label]", "][]" or
/// "]".
MarkdownLinkTail markdown_link_tail(std::string_view markdown, std::size_t place);

}  // namespace dragoman
