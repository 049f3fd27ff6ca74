// Tokens of a text that is no document of markup, and yet may have tags and placeholders.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "extras/markup/format_directives.h"
#include "extras/markup/markup_token.h"

namespace dragoman {

/// What is kept besides tags (`<b>`, `</b>`, `<br/>`).
enum class AlsoKept {
  Positions,  ///< of subtitles: {\an8}
  /// %s, %1$d, %<PRIu64>, %(name)s, %{name}, %%, {0}, {name}, ${name}, {{name}}; control characters
  Placeholders,
};

/// The tokens of `text`, whose places are counted from its begin. "<" and "%" that begin nothing of
/// this kind are text. The directives of `formats` are placeholders, too. Placeholders that stand
/// for the next argument have their number in MarkupToken::argument.
std::vector<MarkupToken> text_tokens(std::string_view text, AlsoKept also,
                                     const FormatSyntaxes& formats = {});

}  // namespace dragoman
