// Markup that CommonMark does not know: footnotes, front matter, GitHub's alerts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "markup/byte_range.h"

namespace dragoman {

struct MaskedMarkdown {
  std::string_view original;
  /// As long as the original. A label of a footnote ([^1]) or an alert ([!NOTE]) is full stops,
  /// front matter is blank, and what belongs to a footnote is a quote.
  std::string text = {};
  struct Label {
    ByteRange place;
    bool begins_block;  ///< [^1]: or [!NOTE]
  };
  std::vector<Label> labels = {};  ///< in their order
};

/// The view must outlive the result.
MaskedMarkdown masked_markdown(std::string_view markdown);

}  // namespace dragoman
