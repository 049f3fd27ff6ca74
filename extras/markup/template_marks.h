// Marks of template engines in a page: Jinja, Twig, Liquid and Handlebars ({{ x }}, {% if %},
// {# note #}), ERB, EJS and JSP (<%= x %>), PHP (<?php x ?>).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/markup_tokens.h"

namespace dragoman {

/// The marks of a text in order, as tokens without text. One that ends another mark ({% endif %},
/// {{/if}}) closes it; other statements keep their order (Kind::Opens). A mark that never ends is
/// text.
std::vector<MarkupToken> template_marks(std::string_view text);

/// The same with the texts between them: Kind::Text, not decoded.
std::vector<MarkupToken> texts_and_marks(std::string_view text);

/// The text with letters in the place of each mark, so that a parser sees no markup in them. All
/// offsets stay.
std::string without_marks(std::string text, const std::vector<MarkupToken>& marks);

/// Whether a mark of a template begins at an offset: at a sign of the text, or of the text and
/// `after`, the byte that follows the text.
bool begins_mark(std::string_view text, std::size_t offset, char after = 0);

/// Whether more marks begin in a translation than in its source, whether they end or not: a "{"
/// before "{{ x }}" makes another mark of it.
bool begins_more_marks(std::string_view translation, std::string_view source);

}  // namespace dragoman
