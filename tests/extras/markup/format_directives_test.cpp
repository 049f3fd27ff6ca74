#include "extras/markup/format_directives.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "extras/markup/markup_tokens.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/repeated.h"

namespace dragoman {
namespace {

using Argument = FormatDirective::Argument;
using Examples = std::vector<std::pair<std::string, std::vector<std::string>>>;

FormatDirective first_directive(const std::string& flags, const std::string& text) {
  return format_directive(format_syntaxes(flags), text, 0);
}

void expect_directives(const Examples& examples, Argument argument) {
  for (const auto& [flag, directives] : examples)
    for (const std::string& directive : directives) {
      const FormatDirective found = first_directive(flag, directive + " x");
      EXPECT_EQ(found.length, directive.size()) << flag << ": " << directive;
      EXPECT_EQ(found.argument, argument) << flag << ": " << directive;
    }
}

const Examples kNext = {
    {"c-format",
     {"%*d", "%-5.2f", "%.*f", "%'d", "% d", "%#x", "%zu", "%hhd", "%Lf", "%jd", "%I64d", "%Id",
      "%<PRId64>", "%5<PRIuLEAST8>"}},
    {"objc-format", {"%@", "%lu"}},
    {"awk-format", {"%i"}},
    {"tcl-format", {"%d"}},
    {"gcc-internal-format", {"%qs", "%q+D", "%wd", "%E"}},
    {"gfc-internal-format", {"%C", "%L"}},
    {"python-format", {"%i", "%-5.2f", "%r", "%ld"}},
    {"python-brace-format", {"{}", "{:>10}", "{!r}", "{:>{w}}"}},
    {"java-printf-format", {"%,d", "%tY", "%h", "%S", "%b", "%(.2f"}},
    {"javascript-format", {"%j", "%O", "%o"}},
    {"scheme-format", {"~a", "~10d", "~s"}},
    {"lisp-format", {"~d", "~10,2f", "~:@r", "~{", "~}"}},
    {"elisp-format", {"%S"}},
    {"librep-format", {"%s"}},
    {"ruby-format", {"%s", "%-10s"}},
    {"lua-format", {"%q"}},
    {"object-pascal-format", {"%s", "%-5d", "%8.2N"}},
    {"boost-format", {"%|5|", "%5d"}},
    {"perl-format", {"%vd", "%*vX", "%-10s"}},
    {"php-format", {"%'010d", "%'*10s", "%b", "%e"}},
};

const Examples kNamed = {
    {"c-format", {"%1$*2$d", "%1$.*2$f", "%2$s", "%m"}},
    {"objc-format", {"%1$@"}},
    {"tcl-format", {"%1$s"}},
    {"gcc-internal-format", {"%<", "%>", "%'", "%1$qs"}},
    {"python-format", {"%(x)r", "%(name)-10.2f", "%(a b)s", "%(n(m))ld"}},
    {"python-brace-format", {"{0!r:>10}", "{a.b[0]}", "{a:>{w}}", "{x:,}", "{x!s}"}},
    {"java-format", {"{0}", "{0,number,integer}", "{0,choice,0#none|1<{0} files}"}},
    {"java-printf-format", {"%1$tF", "%<s"}},
    {"csharp-format", {"{0:C}", "{0,-10}", "{0,10:N2}"}},
    {"ruby-format", {"%<x>.2f", "%{x}", "%-10<x>s", "%1$s"}},
    {"sh-format", {"$name", "${name}"}},
    {"object-pascal-format", {"%0:d", "%1:-8.2f"}},
    {"smalltalk-format", {"%1", "%<a|b>1"}},
    {"ycp-format", {"%1"}},
    {"qt-format", {"%1", "%L1", "%12", "%n"}},
    {"qt-plural-format", {"%n", "%Ln"}},
    {"kde-format", {"%1", "%L1"}},
    {"kde-kuit-format", {"%1"}},
    {"boost-format", {"%1%", "%|1$5|"}},
    {"perl-format", {"%1$s"}},
    {"perl-brace-format", {"{name}"}},
    {"php-format", {"%1$05.2f"}},
};

TEST(FormatDirectives, EachSyntaxHasItsOwnDirectives) {
  expect_directives(kNext, Argument::Next);
  expect_directives(kNamed, Argument::Named);
  expect_directives({{"c-format", {"%%"}},
                     {"python-brace-format", {"{{", "}}", "{{x}}"}},
                     {"csharp-format", {"{{"}},
                     {"java-printf-format", {"%n"}},
                     {"lisp-format", {"~%", "~~"}}},
                    Argument::None);
}

TEST(FormatDirectives, OtherTextIsNotADirective) {
  for (const auto& [flag, text] :
       std::vector<std::pair<std::string, std::string>>{{"c-format", "%y"},
                                                        {"c-format", "%1"},
                                                        {"kde-format", "%s"},
                                                        {"kde-format", "%no"},
                                                        {"python-brace-format", "{a b"},
                                                        {"sh-format", "$5"},
                                                        {"no-c-format", "%s"},
                                                        {"fuzzy", "%s"},
                                                        {"unknown-format", "%s"}})
    EXPECT_EQ(first_directive(flag, text + " x").length, 0u) << flag << ": " << text;
}

TEST(FormatDirectives, TheSyntaxIsOneOfTheFlags) {
  for (const char* flags : {"#, c-format", "#,c-format", "#, fuzzy, c-format, no-wrap\r"})
    EXPECT_EQ(first_directive(flags, "%s").length, 2u) << flags;
  for (const char* text : {"%s", "{0}"})
    EXPECT_GT(first_directive("#, python-format, python-brace-format", text).length, 0u) << text;
}

TEST(FormatDirectives, OnlyDirectivesOfTheNextArgumentTakeNumbers) {
  EXPECT_TRUE(first_directive("c-format", "%s").takes_number);
  for (const char* text : {"%*d", "%1$s", "%<PRIu64>", "%%", "%m"})
    EXPECT_FALSE(first_directive("c-format", text).takes_number) << text;
  EXPECT_FALSE(first_directive("python-format", "%s").takes_number);
}

TEST(FormatDirectives, TextsAreComparedByTheirArguments) {
  const auto same = [](const char* flag, const char* a, const char* b) {
    return have_same_directives(format_syntaxes(flag), a, b);
  };
  EXPECT_TRUE(same("c-format", "%d of %s, 100%%", "100 of %2$s %1$d"));
  EXPECT_FALSE(same("c-format", "%d of %s", "%s of %d"));
  EXPECT_FALSE(same("c-format", "%d of %s", "%d"));
  EXPECT_FALSE(same("c-format", "%d", "%d %d"));
  EXPECT_FALSE(same("c-format", "%d", "%d 100 %"));
  EXPECT_FALSE(same("c-format", "%d", "%d 100 % der"));
  EXPECT_TRUE(same("kde-format", "%1 %2", "%2 %1"));
  EXPECT_FALSE(same("kde-format", "%1 %2", "%1 %1"));
  EXPECT_TRUE(same("kde-format", "50% of %1", "half of %1"));
  EXPECT_FALSE(same("kde-format", "%1 0", "%10"));
  EXPECT_FALSE(same("lisp-format", "~a ~d", "~d ~a"));
  EXPECT_FALSE(same("python-brace-format", "{x}", "{x} {"));
  EXPECT_TRUE(same("java-format", "Don''t {0}", "{0} x"));
  EXPECT_FALSE(same("java-format", "the man {0}", "l'homme {0}")) << "a quote hides what follows";
  EXPECT_TRUE(same("fuzzy", "%s", ""));
  EXPECT_TRUE(same("sh-format", "$5 or $name", "$name")) << "$5 begins none: no format string";
  EXPECT_TRUE(same("c-format", "100 %! %d", "100"));
}

TEST(FormatDirectives, TextsTakeTheTimeThatTheirLengthSays) {
  const std::clock_t begin = std::clock();
  for (const auto& examples : {kNext, kNamed})
    for (const auto& [flag, directives] : examples) {
      const FormatSyntaxes syntaxes = format_syntaxes(flag);
      const std::string first = directives[0].substr(0, directives[0].size() - 1);
      for (const std::string& text : {first, std::string("%("), std::string("{0"), first + "{0 "})
        text_tokens(repeated(text, 5'000), AlsoKept::Placeholders, syntaxes);
    }
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 3);
}

TEST(FormatDirectives, PlaceholdersOfTextsWithoutAFormatAreThoseOfPrintfPythonAndBraces) {
  for (const std::string kept :
       {"%s", "%1$d", "%-5.2f", "%lu", "%(name)s", "{0}", "{}", "{name}", "{0:.2f}", "${name}",
        "{{name}}", "%@", "%%", "%{name}", "%<name>s", "%<PRIu64>", "%5<PRIuPTR>"})
    EXPECT_EQ(placeholder_length(kept + " x", 0), kept.size()) << kept;
  for (const std::string text :
       {"100% sure", "% d", "%", "%(name", "%{name", "%<a b", "{a b}", "{", "$x", "50%discount"})
    for (std::size_t i = 0; i < text.size(); ++i)
      EXPECT_EQ(placeholder_length(text, i), 0u) << text;
}

TEST(FormatDirectives, LettersAfterAPlaceholderBelongToIt) {
  EXPECT_EQ(placeholder_length("%(day)sth x", 0), 9u);
  EXPECT_EQ(placeholder_length("100%s", 3), 2u);
}

}  // namespace
}  // namespace dragoman
