// HTML: whole pages and fragments, also broken ones.
#pragma once

#include <string>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/markup_options.h"
#include "extras/markup/markup_token.h"

namespace dragoman {

/// `html` is valid UTF-8. Inline tags stand within sentences, all others and <br> split them. Kept
/// are script, style, code, pre and the like, and what has translate="no" or the class notranslate.
/// The attributes title, alt and placeholder are passages. In a text without any tag each line is a
/// passage. The document declares UTF-8 where a <meta> of `html` declares another encoding. Throws
/// Error where elements are nested deeper than browsers take them (HtmlTree).
MarkupDocument parse_html(std::string html, const MarkupOptions& options = {});

/// The tokens that make up `html`, as the tree of the HTML standard's parser has them.
std::vector<MarkupToken> html_tokens(const std::string& html, const MarkupOptions& options);

/// The character that a reference means in HTML: that of "&eacute;". Some are two code points.
/// Empty: HTML does not know the reference.
std::string html_character(const std::string& reference);

}  // namespace dragoman
