// The pages' own files, extras/report/page/*: HTML, CSS and JavaScript, which are part of the
// program.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// The text of a file of extras/report/page/, "style.css".
std::string_view page_file(std::string_view name);

/// The file with each {{name}} replaced by its value. A {{name}} within a value is plain text.
std::string filled_page_file(std::string_view file,
                             const std::vector<std::pair<std::string_view, std::string>>& values);

}  // namespace dragoman
