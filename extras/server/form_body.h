// The bodies that HTML forms send: application/x-www-form-urlencoded and multipart/form-data
// (RFC 7578).
#pragma once

#include <cstddef>
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
/// A field takes many times the memory of its bytes. An address has room for fewer.
inline constexpr std::size_t kMostFormFields = 65'536;

/// "a=1&b=%C3%A4+c"; a percent sign without two hexadecimal digits stands for itself. Throws
/// HttpError (400) where there are more than kMostFormFields.
FormFields parse_urlencoded(std::string_view body);

/// The parts of a multipart body. Quotes in the name of a part or a file may be written \" or %22,
/// and a file's name as filename*=UTF-8''... (RFC 5987). Throws HttpError (400) where it is none,
/// or has more than kMostFormFields.
FormFields parse_multipart(std::string_view body, std::string_view content_type);

}  // namespace dragoman
