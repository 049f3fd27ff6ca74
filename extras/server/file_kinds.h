// The kinds of files that the server translates, by the endings of their names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "extras/markup/markup_format.h"

namespace dragoman {

struct FileKind {
  std::string_view ending;  ///< ".html"
  MarkupFormat markup;
  std::string_view media_type;
};

std::span<const FileKind> file_kinds();

/// The kind of a file with this name, in letters of any case; null where it is none of them.
const FileKind* file_kind_of(std::string_view name);

/// With the charset. A file of none of the kinds is plain text.
std::string media_type_of(std::string_view name);

}  // namespace dragoman
