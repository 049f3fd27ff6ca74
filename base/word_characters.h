// The characters that make words, in scripts with and without spaces between words.
#pragma once

namespace dragoman {

/// Whether a word goes on with this character. A character of a script without spaces is a word of
/// its own.
bool is_word_character(char32_t code_point);
/// Whether the character belongs to a script that writes no spaces between words.
bool is_unspaced(char32_t code_point);

}  // namespace dragoman
