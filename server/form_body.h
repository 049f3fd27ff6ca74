// The bodies that HTML forms send: application/x-www-form-urlencoded and multipart/form-data
// (RFC 7578).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct FormField {
  std::string name, value;
  std::string file_name = {};  ///< of a part that is a file; else empty
  bool operator==(const FormField&) const = default;
};
using FormFields = std::vector<FormField>;

/// "a=1&b=%C3%A4+c"; a percent sign without two hexadecimal digits stands for itself.
FormFields parse_urlencoded(std::string_view body);

/// The parts of a multipart body. Quotes in the name of a part or a file may be written \" or %22,
/// and a file's name as filename*=UTF-8''... (RFC 5987). Throws HttpError (400) where it is none.
FormFields parse_multipart(std::string_view body, std::string_view content_type);

}  // namespace dragoman
