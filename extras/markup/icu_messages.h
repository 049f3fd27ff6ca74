// Messages that choose one of several texts, in the syntax of ICU's MessageFormat:
// {n, plural, one {# file} other {# files}}, and the same with select and selectordinal.
//
// An apostrophe before a bracket or a "#" quotes everything up to the next one, and two are one
// apostrophe. Others are text: that is ICU's default. Programs may ask for a mode in which each one
// quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "extras/markup/document.h"
#include "extras/markup/format_directives.h"
#include "extras/markup/markup_tokens.h"

namespace dragoman {

struct IcuMessage {
  bool chooses = false;  ///< it has an argument that chooses
  /// The texts of the branches, in order, if such an argument is all of the message. A branch that
  /// is one itself is replaced by its texts. Empty: other text stands beside the argument.
  std::vector<ByteRange> texts = {};
  /// In the texts of a translation. Both of ICU's modes read them as text.
  Apostrophes apostrophes = Apostrophes::Typographic;
};
IcuMessage icu_message(std::string_view text);

/// The tokens of a text of a message that chooses, as text_tokens() finds them. Also kept are each
/// "#" and each stretch in quotes. The texts have one apostrophe for two.
std::vector<MarkupToken> branch_tokens(std::string_view text, FormatSyntaxes formats,
                                       Apostrophes apostrophes);

/// The apostrophes of a translation as they are to be written.
std::string with_apostrophes(std::string_view translation, Apostrophes apostrophes);

/// Whether a translation differs from a message only in the texts of its branches, each of which
/// keeps what branch_tokens() keeps. True if the message does not choose.
bool has_same_branches(std::string_view message, std::string_view translation);

/// Whether a translation has the signs that a program reads in its message: the directives of its
/// formats, or, if none is known, its placeholders; its tags; and no more marks of templates. In a
/// message that chooses, the branches count (has_same_branches()), and the directives.
bool has_same_signs(const FormatSyntaxes& formats, std::string_view message,
                    std::string_view translation);

}  // namespace dragoman
