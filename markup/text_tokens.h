// Tokens of a text that is no document of markup, and yet may have tags and placeholders.
#pragma once

#include <string_view>
#include <vector>

#include "markup/markup_token.h"

namespace dragoman {

/// What is kept besides tags (`<b>`, `</b>`, `<br/>`).
enum class AlsoKept {
  Positions,     ///< of subtitles: {\an8}
  Placeholders,  ///< %s, %1$d, %(name)s, %%, {0}, {name}, ${name}, {{name}}; control characters
};

/// The tokens of `text`, whose places are counted from its begin. "<" and "%" that begin nothing of
/// this kind are text.
std::vector<MarkupToken> text_tokens(std::string_view text, AlsoKept also);

/// The length of the placeholder that a text begins with; 0: it begins with none.
std::size_t placeholder_length(std::string_view text);

}  // namespace dragoman
