// The language of a line, by CLD2's statistics of letters and words.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// The code of the language of a long text, "de"; empty if CLD2 is not sure. The text must be valid
/// UTF-8.
std::string language_of_text(std::string_view text);

/// The code of the language of most of a line if it is certainly not `expected` (a code of ISO 639,
/// with or without a region); empty otherwise. Languages that CLD2 mistakes for each other in
/// single lines ("da" and "no") count as one. The line must be valid UTF-8.
std::string other_language(std::string_view line, const std::string& expected);

}  // namespace dragoman
