#include "markup/markup_format.h"

#include <utility>

#include "markup/html.h"
#include "markup/markdown.h"
#include "markup/po.h"
#include "markup/srt.h"
#include "markup/xml.h"

namespace dragoman {

MarkupDocument parse_document(MarkupFormat format, std::string text, const MarkupOptions& options) {
  if (format == MarkupFormat::Xml) return parse_xml(std::move(text), options);
  if (format == MarkupFormat::Srt) return parse_srt(std::move(text));
  if (format == MarkupFormat::Po) return parse_po(text);
  if (format == MarkupFormat::Markdown) return parse_markdown(text);
  return parse_html(std::move(text), options);
}

}  // namespace dragoman
