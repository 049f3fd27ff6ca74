// The formats of documents with markup. parse_document() chooses among these readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/markup_tokens.h"

namespace dragoman {

/// HTML: whole pages and fragments, also broken ones.
///
/// `html` is valid UTF-8. Inline tags stand within sentences; all others and <br> split them. Kept
/// are script, style, code, pre and the like, and elements with translate="no" or the class
/// notranslate. Marks of templates stand within sentences and are kept. The attributes title, alt
/// and placeholder are passages. In a text without any tag each line is a passage. If a <meta> of
/// `html` declares another encoding and no charset is given, the document declares UTF-8 in its
/// place. Throws Error if elements are nested deeper than browsers take them (HtmlTree).
MarkupDocument parse_html(std::string html, const MarkupOptions& options = {});

/// The tokens that make up `html`, as the tree of the HTML standard's parser has them.
std::vector<MarkupToken> html_tokens(const std::string& html, const MarkupOptions& options);

/// The name of the encoding other than UTF-8 that the first <meta> with one declares, as a part of
/// the page; empty: there is none.
std::string_view declared_encoding(std::string_view html);

/// The character that a reference means in HTML: that of "&eacute;". Some are two code points.
/// Empty: HTML does not know the reference.
std::string html_character(const std::string& reference);

/// XML: whole documents, and fragments with text and elements side by side.
///
/// `xml` is valid UTF-8. Its options say which elements split sentences. Kept are CDATA sections,
/// comments, processing instructions, attributes, elements with translate="no" (DITA) or
/// its:translate="no" (ITS), and entities of the document type that mean more than one character.
/// Throws Error, with line and column, if `xml` is not well-formed, or if it declares an encoding
/// other than UTF-8 and no charset is given.
MarkupDocument parse_xml(std::string xml, const MarkupOptions& options = {});

/// Markdown: CommonMark with GitHub's tables, strikethrough, task lists and bare links, footnotes
/// and front matter.
///
/// `markdown` is valid UTF-8. A paragraph, heading, list item or table cell is a passage; its line
/// ends are placed again by the length of its lines, and hard line breaks end it. Emphasis and
/// links are inline tags; titles and the texts of images are passages of their own. Kept are code,
/// URLs, HTML, link definitions and front matter. A link whose text is also its label ([text])
/// gets the label beside it ([text][text]), as the text is translated.
MarkupDocument parse_markdown(std::string_view markdown);

/// Subtitles in SubRip's format.
///
/// `srt` is valid UTF-8: blocks of a number, a line with "-->" and lines of text, with blank lines
/// between them. Numbers and times stay. A sentence that continues in the next line or caption is
/// translated as one and divided again, by the length of its sections; tags at the ends of its
/// lines stay there. Throws Error if there is text and no line with "-->".
MarkupDocument parse_srt(std::string srt);

/// Subtitles in WebVTT (https://www.w3.org/TR/webvtt1/). The texts of cues are translated as in
/// SubRip; the header, notes, styles, identifiers and settings stay as they are. Throws Error if
/// the file does not begin with WEBVTT.
MarkupDocument parse_vtt(std::string vtt);

/// Catalogues of messages in gettext's format (PO).
///
/// `po` is valid UTF-8. An empty msgstr becomes the translation of msgid, and msgstr[1] and above
/// that of msgid_plural. All other lines stay as they are: comments, translations that are there,
/// obsolete messages. Placeholders (%s, %(name)s, {0}) are kept text: each comes out once. Line
/// ends, tabs and white space other than blanks divide a message into fields. A message stays
/// untranslated (MarkupDocument::checked) if a field with words gets none, if its flags name its
/// format and the written translation has other placeholders, and if it has a plural, but the
/// header declares neither Plural-Forms nor a known Language. If a translation is filled in, the
/// header declares UTF-8, and the rule of its language if it lacks one and there are plurals; empty
/// plurals get as many forms as the rule has. Throws Error with the line that is not PO.
MarkupDocument parse_po(const std::string& po);

/// The name of the encoding that the header of a catalogue declares, as a part of the text; empty:
/// there is none.
std::string_view declared_charset(std::string_view po);

}  // namespace dragoman
