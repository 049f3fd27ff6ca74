// HTML from templates: no text that is put in is read as HTML, unless it is HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// Escapes text for HTML and for attributes in double quotes. Invalid UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

/// The template with a value in the place of each {{name}}. Values are put in as they are. Throws
/// std::logic_error where a name has no value.
std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace dragoman
