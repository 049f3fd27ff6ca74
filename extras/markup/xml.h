// XML: whole documents, and fragments with text and elements side by side.
#pragma once

#include <string>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/markup_options.h"
#include "extras/markup/markup_token.h"

namespace dragoman {

/// `xml` is valid UTF-8. Its options say which elements split sentences. Kept are CDATA sections,
/// comments, processing instructions, attributes, elements with translate="no" (DITA) or
/// its:translate="no" (ITS), and entities of the document type that mean more than one character.
/// Throws Error, with line and column, where `xml` is not well-formed or declares an encoding other
/// than UTF-8.
MarkupDocument parse_xml(std::string xml, const MarkupOptions& options = {});

/// The tokens that make up `xml`. All elements are inline. Kind::Kept with a name begins an element
/// that is not to be translated, whose Kind::Closes ends it; without a name it is an entity.
std::vector<MarkupToken> xml_tokens(const std::string& xml);

}  // namespace dragoman
