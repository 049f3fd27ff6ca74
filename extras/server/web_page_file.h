// The files of the page, extras/server/page/*, which are part of the program.
#pragma once

#include <string_view>

namespace dragoman {

/// The text of a file of extras/server/page/, "page.css".
std::string_view web_page_file(std::string_view name);

}  // namespace dragoman
