// Markup that CommonMark does not know: footnotes, front matter, GitHub's alerts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/byte_range.h"

namespace dragoman {

struct MaskedMarkdown {
  std::string_view original;
  /// As long as the original. A label of a footnote ([^1]) or an alert ([!NOTE]) is full stops,
  /// front matter is blank, and a footnote is an item of a list. At the beginning of a line the
  /// name of a block of HTML that md4c does not find (<thead>) is one that it finds.
  std::string text = {};
  struct Label {
    ByteRange place;
    bool begins_block;  ///< the end of [^1]:, or [!NOTE]
  };
  std::vector<Label> labels = {};  ///< in their order
};

/// The length of [^1]: at the beginning of a text; 0 where there is none.
std::size_t footnote_begin_length(std::string_view text);

/// The view must outlive the result.
MaskedMarkdown masked_markdown(std::string_view markdown);

}  // namespace dragoman
