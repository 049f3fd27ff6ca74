// Formats of XML whose elements say which of their texts are for people: RSS, the strings of
// Android, XLIFF and TMX. The root element names the format.
#pragma once

#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/markup_tokens.h"

namespace dragoman {

enum class XmlFormat {
  Other,
  Rss,      ///< RSS 2.0, with the elements of content, itunes and media
  Android,  ///< string resources
  Xliff1,   ///< XLIFF 1.0 to 1.2
  Xliff2,   ///< XLIFF 2.0 and 2.1
  Tmx,      ///< TMX 1.4
};

/// The format of a document that has these tokens (xml_tokens()).
XmlFormat xml_format(std::string_view xml, const std::vector<MarkupToken>& tokens);

/// Adds titles, descriptions and contents to the document, whose tokens are given. If one of them
/// is HTML, escaped or in a CDATA section, it is read as HTML. Other texts stay untranslated if
/// their translations would be read as HTML.
void add_rss_texts(const std::vector<MarkupToken>& tokens, MarkupDocument& document);

/// Adds the strings of Android to the document, whose tokens are given. Kept are placeholders,
/// tags (also escaped ones), <xliff:g>, references ("@string/x") and what is not translatable. "\n"
/// ends a sentence. A string stays untranslated if its translation has other signs
/// (has_same_signs()).
void add_android_strings(std::vector<MarkupToken> tokens, MarkupDocument& document);

/// Fills the empty targets of XLIFF and TMX, and adds their passages to the document, whose tokens
/// are given. A unit without a target gets one. Sources and targets that have text stay. In TMX a
/// unit in one language only is translated in its place. A unit stays as it is
/// (MarkupDocument::checked) if its translation has other placeholders or tags, or if it has a
/// choice of ICU with tags in it or text beside it.
void add_bilingual_units(XmlFormat format, const std::vector<MarkupToken>& tokens,
                         MarkupDocument& document);

/// The name of an element without its prefix.
std::string_view local_name(std::string_view name);

/// Whether these bytes of a document are a CDATA section, and what such a section has in it.
bool is_section(std::string_view bytes);
ByteRange within_section(const ByteRange& section);

}  // namespace dragoman
