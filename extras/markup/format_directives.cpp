#include "extras/markup/format_directives.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"
#include "extras/markup/markup_tokens.h"

namespace dragoman {

/// Known: an argument's number may stand after the percent sign (%2$s).
enum class Numbers { None, Known };

/// A sign that begins no directive: text, or a fault of the format string.
enum class StraySign { Text, Fault };

struct FormatSyntax {
  std::string_view language;  ///< the flag without "-format"
  std::string_view signs;     ///< of which one begins each directive
  Numbers numbers;
  StraySign stray;
  RE2 directive;  ///< group 1 is one without an argument, group 2 one of the next argument
};

namespace {

using Argument = FormatDirective::Argument;

/// Regular expressions of the directives of each kind (FormatDirective::Argument).
struct Directives {
  std::string none = "[^\\s\\S]";  // matches nothing
  std::string named = "[^\\s\\S]";
  std::string next = "[^\\s\\S]";

  std::string pattern() const { return "(" + none + ")|" + named + "|(" + next + ")"; }
};

/// A directive of printf: % flags width .precision conversion. In front of the flags the number of
/// its argument may stand: %1$d.
Directives printf_directives(const std::string& flags, const std::string& conversion) {
  const std::string next = flags + R"((?:\d+|\*)?(?:\.(?:\d+|\*)?)?)" + conversion;
  const std::string numbered = flags + R"((?:\d+|\*\d+\$)?(?:\.(?:\d+|\*\d+\$)?)?)" + conversion;
  return {.none = "%%", .named = R"(%\d+\$)" + numbered, .next = "%" + next};
}

Directives with_named(Directives directives, const std::string& more) {
  directives.named += "|" + more;
  return directives;
}

/// A macro of <inttypes.h>: <PRIu64>.
constexpr std::string_view kPriMacro = "<PRI[diouxX](?:(?:LEAST|FAST)?(?:8|16|32|64)|MAX|PTR)>";

Directives c_directives() {
  return with_named(
      printf_directives(
          "[-+ #0'I]*",
          join_text("(?:hh|ll|[hlLqjzt]|I64|I32)?(?:[diouxXeEfFgGaAcCsSpn@]|", kPriMacro, ")")),
      "%m");
}

Directives python_directives() {
  const std::string conversion = "[hlL]?[diouxXeEfFgGcrsa]";
  return with_named(printf_directives("[-+ #0]*", conversion),
                    R"(%\((?:[^()%\n]|\([^()%\n]*\))*\)[-+ #0]*\d*(?:\.\d*)?)" + conversion);
}

Directives python_brace_directives() {
  const std::string rest = R"((?:![a-z])?(?::(?:[^{}\n]|\{[^{}\n]*\})*)?\})";
  return {.none = R"(\{\{[^{}\s]+\}\}|\{\{|\}\})",
          .named = R"(\{[0-9A-Za-z_][^{}\n:!]*)" + rest,
          .next = R"(\{)" + rest};
}

Directives java_printf_directives() {
  const std::string conversion = "(?:[bBhHsScCdoxXeEfgGaA]|[tT][A-Za-z])";
  Directives directives = with_named(printf_directives("[-#+ 0,(]*", conversion),
                                     R"(%<[-#+ 0,(]*\d*(?:\.\d+)?)" + conversion);
  directives.none = R"(%-?\d*[%n])";
  return directives;
}

Directives ruby_directives() {
  const std::string flags = "[-+ #0]*", width = R"(\d*(?:\.\d+)?)";
  const std::string conversion = "[bBcdiouxXeEfgGaAsp]";
  return with_named(printf_directives(flags, conversion), "%" + flags + width +
                                                              R"((?:<[^<>%\n]+>)" + flags + width +
                                                              conversion + R"(|\{[^{}%\n]+\}))");
}

Directives boost_directives() {
  Directives directives = with_named(c_directives(), R"(%\d+%|%\|\d+\$[^|%\n]*\|)");
  directives.next += R"(|%\|[^|$%\n]*\|)";
  return directives;
}

Directives gcc_directives() {
  return with_named(printf_directives("[-+ #0q]*", "(?:hh|ll|[hlLjztw])?[A-Za-z{]"), "%[<>'}Rm]");
}

Directives pascal_directives() {
  const std::string conversion = "[dDuUeEfFgGnNmMpPsSxX]";
  return with_named(printf_directives("-?", conversion),
                    R"(%\d*:-?(?:\d+|\*)?(?:\.(?:\d+|\*))?)" + conversion);
}

/// Arguments are taken in order.
Directives lisp_directives() {
  return {.none = R"(~\d*[%&~|])", .next = R"(~(?:[-+]?\d+|'.|[,#vV:@])*[A-Za-z$?*()\[\]{};<>^/])"};
}

std::span<const FormatSyntax> all_syntaxes() {
  using enum Numbers;
  using enum StraySign;
  const auto named = [](const std::string& pattern) { return Directives{.named = pattern}; };
  const auto printf = [](const std::string& conversion) {
    return printf_directives("[-+ #0]*", conversion).pattern();
  };
  static const std::string c = c_directives().pattern(), gcc = gcc_directives().pattern();
  static const std::string lisp = lisp_directives().pattern();
  static const std::string places = named(R"(%L?(?:\d\d?|n\b))").pattern();
  static const FormatSyntax all[] = {
      {"c", "%", Known, Fault, c},
      {"objc", "%", Known, Fault, c},
      {"awk", "%", Known, Fault, c},
      {"tcl", "%", None, Fault, c},
      {"gcc-internal", "%", None, Fault, gcc},
      {"gfc-internal", "%", None, Fault, gcc},
      {"python", "%", None, Fault, python_directives().pattern()},
      {"python-brace", "{}", None, Fault, python_brace_directives().pattern()},
      {"java", "{}'", None, Fault,
       Directives{.none = "'[^']*'?", .named = R"(\{\s*\d+[^{}]*(?:\{[^{}]*\}[^{}]*)*\})"}
           .pattern()},
      {"java-printf", "%", Known, Fault, java_printf_directives().pattern()},
      {"csharp", "{}", None, Fault,
       Directives{.none = R"(\{\{|\}\})", .named = R"(\{\d+(?:\s*,\s*-?\d+)?\s*(?::[^{}]*)?\})"}
           .pattern()},
      {"javascript", "%", None, Fault, printf("[bcdeEfFgGijoOsuxX]")},
      {"scheme", "~", None, Fault, lisp},
      {"lisp", "~", None, Fault, lisp},
      {"elisp", "%", None, Fault, printf("[sSdioxXeEfgGc]")},
      {"librep", "%", None, Fault, printf("[sSdioxXeEfgGc]")},
      {"ruby", "%", None, Fault, ruby_directives().pattern()},
      {"sh", "$", None, Fault, named(R"(\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\})").pattern()},
      {"lua", "%", None, Fault, printf("[diouxXeEfFgGaAcspq]")},
      {"object-pascal", "%", None, Fault, pascal_directives().pattern()},
      {"smalltalk", "%", None, Fault,
       Directives{.none = "%%", .named = R"(%(?:<[^<>%\n]*>)?[1-9])"}.pattern()},
      {"ycp", "%", None, Fault, Directives{.none = "%%", .named = "%[1-9]"}.pattern()},
      {"qt", "%", None, Text, places},
      {"qt-plural", "%", None, Text, places},
      {"kde", "%", None, Text, places},
      {"kde-kuit", "%", None, Text, places},
      {"boost", "%", None, Fault, boost_directives().pattern()},
      {"perl", "%", Known, Fault,
       printf_directives(R"([-+ #0]*(?:(?:\*(?:\d+\$)?)?v)?)",
                         "(?:hh|ll|[hlqLVztj])?[csduoxXeEfFgGaAiDUOBbpn]")
           .pattern()},
      {"icu-plural", "#'", None, Text, named("#|'[{}#][^']*'").pattern()},  // icu_messages.h
      {"perl-brace", "{}", None, Text, named(R"(\{[A-Za-z_]\w*\})").pattern()},
      {"php", "%", Known, Fault,
       printf_directives("(?:[-+ 0]|'.)*", "l?[bcdeEfFgGosuxX]").pattern()},
  };
  return all;
}

FormatDirective directive_at(const FormatSyntax& syntax, std::string_view text,
                             std::size_t offset) {
  constexpr std::size_t kLongest = 1'000;  // bytes: the time grows with the text's length
  if (syntax.signs.find(text[offset]) == std::string_view::npos) return {};
  const std::string_view rest = text.substr(offset, kLongest);
  const re2::StringPiece piece(rest.data(), rest.size());
  re2::StringPiece found[3];
  if (!syntax.directive.Match(piece, 0, piece.size(), RE2::ANCHOR_START, found, 3)) return {};
  FormatDirective directive{.length = found[0].size(), .argument = Argument::Named};
  if (found[1].data()) directive.argument = Argument::None;
  if (found[2].data()) directive.argument = Argument::Next;
  directive.takes_number = directive.argument == Argument::Next &&
                           syntax.numbers == Numbers::Known &&
                           may_have_number(rest.substr(0, directive.length));
  return directive;
}

/// Sorted; a directive of the next argument has its number. Nothing if a sign begins no directive:
/// the text is not a format string.
std::optional<std::vector<std::string>> directives_of(const FormatSyntax& syntax,
                                                      std::string_view text) {
  std::vector<std::string> all;
  std::size_t argument = 0;
  for (std::size_t place = 0; place < text.size();) {
    const FormatDirective directive = directive_at(syntax, text, place);
    const std::string_view written = text.substr(place, std::max<std::size_t>(directive.length, 1));
    place += written.size();
    if (directive.argument == Argument::Next)
      all.push_back(numbered_placeholder(written, ++argument));
    else if (directive.argument == Argument::Named)
      all.emplace_back(written);
    else if (directive.length == 0 && syntax.stray == StraySign::Fault &&
             syntax.signs.find(written[0]) < syntax.signs.size())
      return std::nullopt;
  }
  std::ranges::sort(all);
  return all;
}

/// The placeholders of a text whose format is not known. None of them extends past a sign that
/// another might begin with, so a text takes linear time.
const RE2& placeholders() {
  static const std::string number = R"(%(?:\d+\$)?)", flags_and_width = "[-+#0]*[0-9.*]*";
  static const std::string conversion = flags_and_width + "[hlLqjzt]*[diouxXeEfFgGaAcspn@]";
  static const RE2 any(
      join_text("%%|", number, flags_and_width, kPriMacro, "|", number, conversion,  // %1$-5.2f
                R"(|%(?:\([^)%\n]*\)|<[^>%\n]*>))", conversion,                      // %(name)s
                R"(|%\{[^}%\n]*\})",                                                 // %{name}
                R"(|\$?(?:\{\{[^{} \n]+\}\}|\{[^{} \n]*\}))"),                       // ${name}
      RE2::Latin1);  // bytes: a broken text is not UTF-8
  return any;
}

}  // namespace

FormatSyntaxes format_syntaxes(std::string_view flags) {
  constexpr std::string_view kEnd = "-format";
  FormatSyntaxes named;
  for (const std::string_view part : split_at(flags, ',')) {
    const std::string_view flag = strip(part);
    for (const FormatSyntax& syntax : all_syntaxes())
      if (flag.ends_with(kEnd) && flag.substr(0, flag.size() - kEnd.size()) == syntax.language)
        named.push_back(&syntax);
  }
  return named;
}

FormatDirective format_directive(const FormatSyntaxes& syntaxes, std::string_view text,
                                 std::size_t offset) {
  FormatDirective longest;
  for (const FormatSyntax* syntax : syntaxes)
    if (const FormatDirective found = directive_at(*syntax, text, offset);
        found.length > longest.length)
      longest = found;
  return longest;
}

bool have_same_directives(const FormatSyntaxes& syntaxes, std::string_view source,
                          std::string_view translation) {
  return std::ranges::all_of(syntaxes, [&](const FormatSyntax* syntax) {
    const auto wanted = directives_of(*syntax, source);
    return !wanted || wanted == directives_of(*syntax, translation);
  });
}

std::size_t placeholder_length(std::string_view text, std::size_t offset) {
  constexpr std::string_view kBegins = "%{$";
  if (kBegins.find(text[offset]) == std::string_view::npos) return 0;
  const std::string_view rest = text.substr(offset);
  const re2::StringPiece piece(rest.data(), rest.size());
  re2::StringPiece found;
  if (!placeholders().Match(piece, 0, piece.size(), RE2::ANCHOR_START, &found, 1)) return 0;
  const std::size_t length = found.size();
  if (!is_ascii_letter(rest[length - 1])) return length;
  const std::size_t end = end_of_ascii_letters(rest, length);
  const bool is_percentage = offset > 0 && is_ascii_digit(text[offset - 1]);
  return is_percentage && end > length && length == 2 ? 0 : end;
}

bool takes_next_argument(std::string_view placeholder) {
  if (placeholder.starts_with('{'))
    return placeholder.starts_with("{}") || placeholder.starts_with("{:");
  if (!placeholder.starts_with('%') || placeholder.starts_with("%%")) return false;
  if (placeholder.starts_with("%<")) return placeholder.ends_with('>');  // %<PRIu64>; %<name>s
  const std::size_t end = placeholder.find_first_not_of("0123456789", 1);
  return end < placeholder.size() && placeholder[end] != '$' && placeholder[1] != '(' &&
         placeholder[1] != '{';
}

bool may_have_number(std::string_view placeholder) {
  return placeholder.starts_with('%') && placeholder.find_first_of("*<") == std::string_view::npos;
}

std::string numbered_placeholder(std::string_view placeholder, std::size_t argument) {
  return placeholder.front() + std::to_string(argument) + '$' + std::string(placeholder.substr(1));
}

}  // namespace dragoman
