// Files of HTML and XML in the charset that they declare. The C library's iconv converts them.
#pragma once

#include <string>
#include <string_view>

#include "extras/markup/document.h"

namespace dragoman {

struct FileText {
  std::string text;     ///< UTF-8
  std::string charset;  ///< MarkupOptions::charset
};

/// The text of a file. HTML and XML are read in the charset that they declare. The declaration is a
/// byte order mark (UTF-16), XML's own (XML 1.0, appendix F), or a <meta> element that begins in
/// the first 1,024 bytes (HTML standard, 13.2.3.2). In HTML, names mean what they mean to browsers:
/// "iso-8859-1" is windows-1252. A file that is valid UTF-8 with letters beyond ASCII is read as
/// UTF-8, whatever it declares. Throws Error if iconv does not know the charset, or if bytes are
/// not valid in it.
FileText file_text(MarkupFormat format, std::string bytes);

/// The text in a charset. A character that the charset does not have becomes a reference
/// ("&#8222;").
std::string in_charset(std::string_view text, const std::string& charset);

}  // namespace dragoman
