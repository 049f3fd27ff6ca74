// Which characters make words of spaced scripts.
#pragma once

namespace dragoman {

/// Whether a word goes on with this character; one of a script without spaces is a word of its own.
bool is_word_character(char32_t code_point);
/// Of a script that writes words without spaces between them.
bool is_unspaced(char32_t code_point);

}  // namespace dragoman
