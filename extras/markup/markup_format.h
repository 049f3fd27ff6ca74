// The kinds of markup that a document may have.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "extras/markup/document.h"
#include "extras/markup/markup_options.h"

namespace dragoman {

enum class MarkupFormat { None, Html, Xml, Srt, Po, Markdown };
constexpr std::array<std::string_view, 6> names_of(MarkupFormat) {
  return {"none", "html", "xml", "srt", "po", "markdown"};
}

/// `text` is valid UTF-8, and `format` is not None. Throws Error as parse_html() and parse_xml()
/// do.
MarkupDocument parse_document(MarkupFormat format, std::string text,
                              const MarkupOptions& options = {});

}  // namespace dragoman
