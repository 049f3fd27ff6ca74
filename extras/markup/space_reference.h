// White space as HTML and XML may write it: &nbsp;, &#160;, &#xA0;.
#pragma once

#include <cstddef>
#include <string_view>

namespace dragoman {

/// The length of the reference to white space that a text begins with; 0: it begins with none. In
/// HTML numbers and "nbsp" need no semicolon.
std::size_t space_reference_length(std::string_view text);

}  // namespace dragoman
