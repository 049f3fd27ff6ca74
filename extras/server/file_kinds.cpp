#include "extras/server/file_kinds.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman {

std::span<const FileKind> file_kinds() {
  static constexpr FileKind kKinds[] = {
      {".txt", MarkupFormat::None, "text/plain"},
      {".html", MarkupFormat::Html, "text/html"},
      {".htm", MarkupFormat::Html, "text/html"},
      {".xml", MarkupFormat::Xml, "application/xml"},
      {".srt", MarkupFormat::Srt, "application/x-subrip"},
      {".po", MarkupFormat::Po, "text/x-gettext-translation"},
      {".md", MarkupFormat::Markdown, "text/markdown"},
      {".markdown", MarkupFormat::Markdown, "text/markdown"},
  };
  return kKinds;
}

const FileKind* file_kind_of(std::string_view name) {
  const std::string ending = ascii_lower(name.substr(std::min(name.rfind('.'), name.size())));
  const auto kind = std::ranges::find(file_kinds(), ending, &FileKind::ending);
  return kind == file_kinds().end() ? nullptr : &*kind;
}

std::string media_type_of(std::string_view name) {
  const FileKind* kind = file_kind_of(name);
  return join_text(kind == nullptr ? "text/plain" : kind->media_type, "; charset=utf-8");
}

}  // namespace dragoman
