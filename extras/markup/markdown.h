// Markdown: CommonMark with GitHub's tables, strikethrough, task lists and bare links, footnotes
// and front matter.
#pragma once

#include <string_view>

#include "extras/markup/document.h"

namespace dragoman {

/// `markdown` is valid UTF-8. A paragraph, heading, list item or table cell is a passage; its line
/// ends are placed again by the length of its lines, and hard line breaks end it. Emphasis and
/// links are inline tags; titles and the texts of images are passages of their own. Kept are code,
/// URLs, HTML, link definitions and front matter. A link whose text is also its label ([text])
/// gets the label beside it ([text][text]), as the text is translated.
MarkupDocument parse_markdown(std::string_view markdown);

}  // namespace dragoman
