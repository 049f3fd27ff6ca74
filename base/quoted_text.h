// What all readers of catalogues of messages need (gettext's PO): texts in double quotes with the
// escapes of C, and the fields of the header.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

/// The text of the string that `rest` begins with, a double quote; the string is removed from
/// `rest`. Nothing, and `rest` stays, if it has no second quote on its line.
std::optional<std::string> take_quoted(std::string_view& rest);

/// The value of a field of a header ("Language: de\n"), without the white space around it; empty if
/// there is none.
std::string_view po_header_field(std::string_view header, std::string_view name);

}  // namespace dragoman
