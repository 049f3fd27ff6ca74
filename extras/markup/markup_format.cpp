#include "extras/markup/markup_format.h"

#include <utility>

#include "extras/markup/html.h"
#include "extras/markup/markdown.h"
#include "extras/markup/po.h"
#include "extras/markup/srt.h"
#include "extras/markup/xml.h"

namespace dragoman {

MarkupDocument parse_document(MarkupFormat format, std::string text, const MarkupOptions& options) {
  if (format == MarkupFormat::Xml) return parse_xml(std::move(text), options);
  if (format == MarkupFormat::Srt) return parse_srt(std::move(text));
  if (format == MarkupFormat::Po) return parse_po(text);
  if (format == MarkupFormat::Markdown) return parse_markdown(text);
  return parse_html(std::move(text), options);
}

}  // namespace dragoman
