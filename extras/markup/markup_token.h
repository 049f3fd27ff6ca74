// A document as a sequence of texts and markup, which a parser has found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/byte_range.h"
#include "extras/markup/document.h"

namespace dragoman {

struct MarkupToken {
  enum class Kind {
    Text,
    Opens,    ///< begins an inline element
    Closes,   ///< ends the innermost inline element of its name
    Single,   ///< stands within a sentence, as an image does
    Kept,     ///< an element that is kept as it is, and is a part of its sentence: `<code>x</code>`
    Divides,  ///< divides a sentence by its length, as the time of the next caption does
    Splits,   ///< it ends the sentence
  };
  /// An attribute that is translated.
  struct Attribute {
    ByteRange source;  ///< of its value, with the quotes
    std::string text;  ///< decoded
    Writing writing = Writing::HtmlAttribute;
  };

  Kind kind;
  ByteRange source;       ///< in the document
  std::string name = {};  ///< of the element
  std::string text = {};  ///< decoded; of Kind::Text and Kind::Kept
  std::vector<Attribute> attributes = {};
  std::size_t argument = 0;   ///< InlineTag::argument
  bool takes_number = false;  ///< InlineTag::takes_number
};

/// The meaning of line ends in a document.
enum class LineEnds {
  ByTags,  ///< in HTML without any tag they split, else they are blanks
  Blanks,  ///< they are white space like any other
  Split,   ///< no sentence goes across them
};

/// The passages of a document. `tokens` are in their order, without gaps between two that split. A
/// stretch between tokens that split is a passage if its text has a letter or a digit; white space
/// and tags around that text are no part of it.
std::vector<Passage> passages_of(std::string_view document, const std::vector<MarkupToken>& tokens,
                                 Writing writing);

/// The texts are cut at their line ends.
std::vector<MarkupToken> split_at_line_ends(std::string_view document,
                                            std::vector<MarkupToken> tokens);

}  // namespace dragoman
