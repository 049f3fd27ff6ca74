// Directives of format strings ("%s", "{0}", "~a") in the syntaxes of programming languages, and
// the arguments that they stand for. gettext flags each message that is a format string with its
// language ("c-format"). Placeholders of texts without a flag are looked for as well.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct FormatSyntax;

/// The syntaxes of a message; mostly one.
using FormatSyntaxes = std::vector<const FormatSyntax*>;

/// The syntaxes that a line of flags names ("#, fuzzy, c-format"), as gettext 0.21 knows them, and
/// "icu-plural-format" for the "#" and the quotes of icu_messages.h. "no-c-format" names none.
FormatSyntaxes format_syntaxes(std::string_view flags);

struct FormatDirective {
  enum class Argument {
    None,   ///< it is written as a sign: %%, {{
    Named,  ///< it says itself what it stands for: %1$s, %(name)s, {0}, %m
    Next,   ///< it stands for the next argument: %s, {}, ~a
  };
  std::size_t length = 0;  ///< 0: there is none
  Argument argument = Argument::None;
  bool takes_number = false;  ///< with its number it may stand at another place: %2$s
};

/// The longest directive that stands at an offset of a text.
FormatDirective format_directive(const FormatSyntaxes& syntaxes, std::string_view text,
                                 std::size_t offset);

/// Whether a translation has the directives of its source in each syntax, in any order that keeps
/// their arguments, and no sign that begins no directive. As in gettext, a source that is not a
/// format string itself is not compared.
bool have_same_directives(const FormatSyntaxes& syntaxes, std::string_view source,
                          std::string_view translation);

/// The length of the placeholder that stands at an offset of a text without a known format, with
/// the letters that follow it ("%dMB"); 0: there is none, as in "50%discount".
std::size_t placeholder_length(std::string_view text, std::size_t offset);

// Each "%s" stands for the next argument. In another order the placeholders would stand for other
// arguments.

/// Whether a placeholder stands for the next argument: "%d" and "{}", not "%2$d", "%(name)d", "{0}"
/// and "%%".
bool takes_next_argument(std::string_view placeholder);

/// Whether a placeholder that stands for the next argument may be written with its number: not if
/// its width is an argument, too ("%*d"), or if it has a macro of C ("%<PRIu64>").
bool may_have_number(std::string_view placeholder);

/// "%2$s" of "%s" and 2.
std::string numbered_placeholder(std::string_view placeholder, std::size_t argument);

}  // namespace dragoman
