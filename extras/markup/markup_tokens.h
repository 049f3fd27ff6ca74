// A document as a sequence of texts and markup that a parser has found, and the passages that it
// has. A parser gives tokens; what they mean for the translation is decided here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/format_directives.h"

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
    /// Within the quotes, in place of source and text, if there is more than text in it.
    std::vector<MarkupToken> tokens = {};
  };

  Kind kind;
  ByteRange source;       ///< in the document
  std::string name = {};  ///< of the element
  std::string text = {};  ///< decoded; of Kind::Text and Kind::Kept
  std::vector<Attribute> attributes = {};
  std::size_t argument = 0;                          ///< InlineTag::argument
  bool takes_number = false;                         ///< InlineTag::takes_number
  Apostrophes apostrophes = Apostrophes::AsTheyAre;  ///< of the passage with this text
};

/// The passages of a document. `tokens` are in order, without gaps between two that split. A
/// stretch between tokens that split is a passage if its text has a letter or a digit; white space
/// and tags around that text are not part of it.
std::vector<Passage> passages_of(std::string_view document, const std::vector<MarkupToken>& tokens,
                                 Writing writing);

/// The texts are cut at their line ends.
std::vector<MarkupToken> split_at_line_ends(std::string_view document,
                                            std::vector<MarkupToken> tokens);

// ---- texts that are not documents of markup, and yet may have tags and placeholders -------------

/// What is kept besides tags (`<b>`, `</b>`, `<br/>`).
enum class AlsoKept {
  Positions,  ///< of subtitles: {\an8}, and times of words: <00:01.500>
  /// %s, %1$d, %<PRIu64>, %(name)s, %{name}, %%, {0}, {name}, ${name}; control characters; without
  /// `formats`, marks of templates (template_marks.h)
  Placeholders,
};

/// The tokens of `text`, whose places are counted from its beginning. A "<" or "%" that begins
/// nothing of this kind is text. The directives of `formats` are placeholders, too. Placeholders
/// that stand for the next argument have their number in MarkupToken::argument.
std::vector<MarkupToken> text_tokens(std::string_view text, AlsoKept also,
                                     const FormatSyntaxes& formats = {});

/// The tags of a text, and its placeholders and marks of templates, each sorted.
struct KeptParts {
  std::vector<std::string_view> tags = {}, placeholders = {};

  bool operator==(const KeptParts&) const = default;
};
KeptParts kept_parts(std::string_view text, const FormatSyntaxes& formats = {});

// ---- letters and digits of ASCII, the only ones that names in markup and placeholders have ------

inline constexpr std::string_view kAsciiDigits = "0123456789";

inline bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_of_name(char c) { return is_ascii_letter(c) || is_ascii_digit(c) || c == '_'; }

/// The end of the run of letters that begins at a place; the place itself if there is no letter.
inline std::size_t end_of_ascii_letters(std::string_view text, std::size_t place) {
  while (place < text.size() && is_ascii_letter(text[place])) ++place;
  return place;
}

}  // namespace dragoman
