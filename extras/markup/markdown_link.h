// The end of a link or an image in Markdown, behind its text.
#pragma once

#include <cstddef>
#include <string_view>

#include "extras/markup/byte_range.h"

namespace dragoman {

struct MarkdownLinkTail {
  std::size_t end;       ///< behind all of the link
  ByteRange title = {};  ///< with its quotes, where it has one on one line
  /// The text is the label: [text] or [text][].
  bool has_text_as_label = false;
};

/// `place` is that of "]", which ends the text of a link: "](url "title")", "][label]", "][]" or
/// "]".
MarkdownLinkTail markdown_link_tail(std::string_view markdown, std::size_t place);

}  // namespace dragoman
