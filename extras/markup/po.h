// Catalogues of messages in gettext's format (PO).
#pragma once

#include <string>

#include "extras/markup/document.h"

namespace dragoman {

/// `po` is valid UTF-8. Where msgstr is empty it becomes the translation of msgid; msgstr[1] and
/// above that of msgid_plural. All other lines stay as they are: comments, translations that are
/// there, obsolete messages. Placeholders (%s, %(name)s, {0}) are kept text: each comes out once. A
/// message whose flags name its format stays untranslated where the written translation has other
/// placeholders (MarkupDocument::checked). Where a translation is filled in, the header declares
/// UTF-8. Throws Error with the line that is no PO.
MarkupDocument parse_po(const std::string& po);

}  // namespace dragoman
