// Texts in a form for comparisons, in which spellings of one text are equal.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// The text for comparisons: in NFKC and without case; each stretch of white space is one blank,
/// and none stands at the ends. `text` must be valid UTF-8.
std::string folded(std::string_view text);
/// The letters and digits of the text alone, in NFKC, without case and accents. `text` must be
/// valid UTF-8.
std::string letters_and_digits(std::string_view text);

}  // namespace dragoman
