// XML as a sequence of texts and tags.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/markup_tokens.h"

namespace dragoman {

/// The tokens of XML. All elements are inline. Kind::Kept with a name begins an element that is not
/// to be translated, whose Kind::Closes ends it; without a name it is an entity. `charset` is
/// MarkupOptions::charset. Throws Error as parse_xml() does.
std::vector<MarkupToken> xml_tokens(std::string_view xml, std::string_view charset);

/// Whether the token begins an element that has content.
bool begins_content(const MarkupToken& token);

/// An element that is kept, by its attribute or because it has one of these names, becomes one
/// token with all its content.
std::vector<MarkupToken> with_kept(std::vector<MarkupToken> tokens,
                                   const MarkupOptions::Names& names);

/// The value of an attribute within a tag, as it is written; empty if the tag has none of this
/// name.
ByteRange xml_attribute(std::string_view xml, const ByteRange& tag, std::string_view name);

/// A text without references, and the places at which its bytes are written in a document.
struct DecodedText {
  std::string text = {};
  std::vector<std::size_t> places = {0};  ///< of each byte of the text, and of its end

  void append(std::string_view more, const ByteRange& source);
  ByteRange written(const ByteRange& range) const;
};

/// The placeholders, tags and template marks that a text has ("%s", "&lt;b>"), and what is between.
/// The frame of a message that chooses (icu_messages.h) splits, and so does all of one that has
/// other text beside its frame.
std::vector<MarkupToken> tokens_within(const DecodedText& decoded);

/// The text of a range without markup. A reference that XML does not know stays.
DecodedText decoded_xml(std::string_view xml, const ByteRange& range);

}  // namespace dragoman
