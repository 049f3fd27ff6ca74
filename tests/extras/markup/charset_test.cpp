#include "extras/markup/charset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "extras/markup/markup_formats.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/names.h"

namespace dragoman {
namespace {

std::string html(const std::string& charset, const std::string& text) {
  return "<meta charset=\"" + charset + "\"><p>" + text + "</p>";
}

std::string xml(const std::string& charset, const std::string& text) {
  return "<?xml version='1.0' encoding='" + charset + "'?><p>" + text + "</p>";
}

/// A file, read and written with its words in reverse order.
std::string reversed_file(MarkupFormat format, const std::string& bytes) {
  const FileText file = file_text(format, bytes);
  return translated(parse_document(format, file.text, {.charset = file.charset}), reversed);
}

std::string error_of(MarkupFormat format, const std::string& bytes) {
  return message_of<Error>([&] { file_text(format, bytes); });
}

TEST(Charset, AFileIsWrittenInTheCharsetThatItDeclares) {
  EXPECT_EQ(reversed_file(MarkupFormat::Html, html("iso-8859-1", "caf\xE9 one")),
            html("iso-8859-1", "one caf\xE9"));
  EXPECT_EQ(reversed_file(MarkupFormat::Html, html("Shift_JIS", "\x93\xFA \x8E\x9E")),
            html("Shift_JIS", "\x8E\x9E \x93\xFA"));
  EXPECT_EQ(reversed_file(MarkupFormat::Xml, xml("ISO-8859-2", "\xB1 one")),
            xml("ISO-8859-2", "one \xB1"));
  EXPECT_EQ(reversed_file(
                MarkupFormat::Html,
                "<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>\xC1 \xC2"),
            "<meta http-equiv='Content-Type' content='text/html; charset=koi8-r'>\xC2 \xC1");
}

TEST(Charset, TheTextOfAFileIsUtf8) {
  EXPECT_EQ(file_text(MarkupFormat::Html, html("iso-8859-1", "\x93one\x94")).text,
            html("iso-8859-1", "\u201Cone\u201D"))
      << "what browsers take it for";
  EXPECT_EQ(file_text(MarkupFormat::Xml, xml("windows-1251", "\xE0")).text,
            xml("windows-1251", "\u0430"));
}

TEST(Charset, UnicodesLongerFormsAreKnownByTheirMark) {
  const auto utf16 = [](std::string_view ascii) {
    std::string bytes = "\xFF\xFE";
    for (const char c : ascii) bytes.append(1, c).append(1, '\0');
    return bytes;
  };
  EXPECT_EQ(
      reversed_file(MarkupFormat::Xml, utf16("<?xml version='1.0' encoding='UTF-16'?><p>a b</p>")),
      utf16("<?xml version='1.0' encoding='UTF-16'?><p>b a</p>"));
  EXPECT_EQ(reversed_file(MarkupFormat::Html, utf16("<p>a b")), utf16("<p>b a"));
}

TEST(Charset, CharactersThatTheCharsetLacksAreWrittenAsReferences) {
  const auto to_polish = [](std::string_view) {
    return AlignedText{.text = "\u017B\u00F3\u0142\u0107"};
  };
  const FileText file = file_text(MarkupFormat::Xml, xml("iso-8859-1", "one"));
  EXPECT_EQ(translated(parse_xml(file.text, {.charset = file.charset}), to_polish),
            xml("iso-8859-1", "&#379;\xF3&#322;&#263;"));
}

TEST(Charset, AFileInUtf8IsReadAsUtf8WhateverItDeclares) {
  EXPECT_EQ(reversed_file(MarkupFormat::Html, html("iso-8859-1", "caf\u00E9 one")),
            html("utf-8", "one caf\u00E9"));
  EXPECT_EQ(file_text(MarkupFormat::Html, html("utf-8", "\xE9")).charset, "");
  EXPECT_EQ(file_text(MarkupFormat::Html, "\xEF\xBB\xBF" + html("latin1", "one")).charset, "");
  EXPECT_EQ(file_text(MarkupFormat::Html, html("utf-16", "one")).charset, "")
      << "it could not be read";
  EXPECT_EQ(file_text(MarkupFormat::Po, html("latin1", "one")).charset, "") << "of other formats";
}

TEST(Charset, WhatCannotBeReadIsNamed) {
  EXPECT_THAT(error_of(MarkupFormat::Html, html("no-such", "one")), Names("charset no-such"));
  EXPECT_THAT(error_of(MarkupFormat::Xml, xml("us-ascii", "\xE9")), Names("us-ascii ... byte 45"));
}

}  // namespace
}  // namespace dragoman
