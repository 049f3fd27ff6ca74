// Texts in double quotes with the escapes of C, as catalogues of messages have them (gettext's PO).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dragoman {

/// The text of the string that `rest` begins with, a double quote; the string is removed from
/// `rest`. Nothing, and `rest` stays, if it has no second quote on its line.
std::optional<std::string> take_quoted(std::string_view& rest);

}  // namespace dragoman
