#include "extras/markup/markup_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "extras/markup/format_directives.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/names.h"

namespace dragoman {
namespace {

std::string reversed_po(const std::string& po) { return translated(parse_po(po), reversed); }

/// A header without which plurals are not filled in.
std::string header_of(int forms) {
  return join_text("msgid \"\"\nmsgstr \"\"\n\"Plural-Forms: nplurals=", forms, "; plural=n%",
                   forms, ";\\n\"\n\n");
}

/// `po` without the header that stands before it here.
std::string reversed_plurals(int forms, const std::string& po) {
  return reversed_po(header_of(forms) + po).substr(header_of(forms).size());
}

std::string error_of(const std::string& po) {
  return message_of<Error>([&] { parse_po(po); });
}

/// Messages in a document whose every passage has this translation.
TranslatedDocument translated_as(const std::string& po, const std::string& text) {
  const MarkupDocument document = parse_po(po);
  return translated_document(document,
                             std::vector<AlignedText>(document.passages.size(), {.text = text}));
}

TEST(Po, EmptyTranslationsAreFilled) {
  EXPECT_EQ(reversed_po("# a comment\nmsgid \"one two\"\nmsgstr \"\"\n"),
            "# a comment\nmsgid \"one two\"\nmsgstr \"two one\"\n");
  EXPECT_EQ(reversed_po("msgctxt \"x\"\nmsgid \"one\"\n\" two\"\nmsgstr \"\""),
            "msgctxt \"x\"\nmsgid \"one\"\n\" two\"\nmsgstr \"two one\"");
}

TEST(Po, AllButTranslationsStays) {
  const std::string po =
      "\xEF\xBB\xBFmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#, fuzzy\nmsgid \"one two\"\n"
      "msgstr \"da\"\n\n#~ msgid \"one two\"\n#~ msgstr \"\"\n";
  EXPECT_EQ(reversed_po(po), po);
}

TEST(Po, PluralsHaveTheirOwnMessage) {
  EXPECT_EQ(
      reversed_plurals(3,
                       "msgid \"%d cat\"\nmsgid_plural \"%d big cats\"\nmsgstr[0] \"\"\nmsgstr[1] "
                       "\"\"\nmsgstr[2] \"\"\n"),
      "msgid \"%d cat\"\nmsgid_plural \"%d big cats\"\nmsgstr[0] \"cat %d\"\nmsgstr[1] "
      "\"cats big %d\"\nmsgstr[2] \"cats big %d\"\n");
}

TEST(Po, LinesAndEscapesStay) {
  EXPECT_EQ(reversed_po("msgid \"\"\n\"one two\\n\"\n\"say \\\"x\\\" \\\\y\\n\"\nmsgstr \"\"\n"),
            "msgid \"\"\n\"one two\\n\"\n\"say \\\"x\\\" \\\\y\\n\"\nmsgstr \"\"\n"
            "\"two one\\n\"\n\"\\\\y \\\"x\\\" say\\n\"\n");
}

TEST(Po, EscapesWithDigitsAreDecodedAndControlCharactersAreWrittenInDigits) {
  EXPECT_EQ(reversed_po("msgid \"\\033[1mone two\"\nmsgstr \"\"\n"),
            "msgid \"\\033[1mone two\"\nmsgstr \"\\033[1mtwo one\"\n");
  const MarkupDocument document =
      parse_po("msgid \"\\x41\\1012\\x0a\\303\\244 \\xyz\"\nmsgstr \"\"\n");
  ASSERT_EQ(document.passages.size(), 2u);
  EXPECT_EQ(document.passages[0].text, "AA2");
  EXPECT_EQ(document.passages[1].text, "\u00e4 xyz");
  EXPECT_EQ(reversed_po("msgid \"one \\a\\b\\f\\v\"\nmsgstr \"\"\n"),
            "msgid \"one \\a\\b\\f\\v\"\nmsgstr \"one \\007\\010\\014\\013\"\n");
  const std::string latin1 = "msgid \"\\344 one\"\nmsgstr \"\"\n";
  EXPECT_EQ(reversed_po(latin1), latin1) << "bytes that are not UTF-8 stay";
}

TEST(Po, APercentSignThatPrintfWritesIsKept) {
  const MarkupDocument document = parse_po("msgid \"100%% done %s\"\nmsgstr \"\"\n");
  const std::string po =
      translated_document(document, std::vector{AlignedText{.text = "100 % fertig %s"}}).bytes;
  const std::string filled = po.substr(po.find("msgstr"));
  EXPECT_NE(filled.find("%%"), std::string::npos) << filled;
}

TEST(Po, MarksOfTemplatesAreKept) {
  EXPECT_EQ(reversed_po("msgid \"one {{ user.name }} two\"\nmsgstr \"\"\n"),
            "msgid \"one {{ user.name }} two\"\nmsgstr \"{{ user.name }} two one\"\n");
  EXPECT_EQ(reversed_po("msgid \"one {% if a > b %}two{% endif %}\"\nmsgstr \"\"\n"),
            "msgid \"one {% if a > b %}two{% endif %}\"\nmsgstr \"{% if a > b %}two{% endif %} "
            "one\"\n");
  EXPECT_EQ(parse_po("msgid \"<a href='{{ a > b }}'>one</a>\"\nmsgstr \"\"\n").passages[0].text,
            "one");
  EXPECT_EQ(reversed_po("#, c-format\nmsgid \"{%d one %s %%}\"\nmsgstr \"\"\n"),
            "#, c-format\nmsgid \"{%d one %s %%}\"\nmsgstr \"%%} %2$s one {%1$d\"\n")
      << "a sign of the format";
}

TEST(Po, AMessageWhoseTranslationHasOtherMarksOfTemplatesStaysUntranslated) {
  const std::string po = "msgid \"one {{ a }}\"\nmsgstr \"\"\n";
  for (const std::string text : {"{{ b }} x", "{% b %} x", "<% b %> x"}) {
    const TranslatedDocument result =
        translated_document(parse_po(po), std::vector{AlignedText{.text = text}});
    EXPECT_EQ(result.bytes, po) << text;
    EXPECT_EQ(result.untranslated, 1U);
  }
}

TEST(Po, AMessageStaysUntranslatedIfItsTranslationBeginsAnotherMarkOfATemplate) {
  const std::string po = "msgid \"one{{ a }}\"\nmsgstr \"\"\n";
  for (const std::string text : {"x {", "x {{", "{% x", "{# x", "x <", "x <%"})
    EXPECT_EQ(translated_as(po, text).untranslated, 1U) << text;
  EXPECT_EQ(translated_as(po, "x { y").untranslated, 0U);
}

constexpr std::string_view kChoice =
    "{n, plural, offset:1 =0 {no file here} one {# file of {name}} other {# files of {name}}}";

std::string message(std::string_view text, std::string_view translation) {
  return join_text("msgid \"", text, "\"\nmsgstr \"", translation, "\"\n");
}

TEST(Po, TheTextsOfAChoiceOfIcuAreTranslatedOneByOne) {
  EXPECT_EQ(translated(parse_po(message(kChoice, "")), reversed),
            message(kChoice,
                    "{n, plural, offset:1 =0 {here file no} one {{name} of file #} other {{name} "
                    "of files #}}"));
  const std::string nested = "{a, select, x {one two} other { {b, selectordinal,other{# th}} }}\\n";
  EXPECT_EQ(
      translated(parse_po(message(nested, "")), reversed),
      message(nested, "{a, select, x {two one} other { {b, selectordinal,other{th #}} }}\\n"));
  EXPECT_EQ(
      translated(parse_po(message("{n, plural,\\n one {a b}\\n other {c\\nd e}}", "")), reversed),
      message("{n, plural,\\n one {a b}\\n other {c\\nd e}}",
              "\"\n\"{n, plural,\\n\"\n\" one {b a}\\n\"\n\" other {c\\n\"\n\"e d}}"));
}

TEST(Po, AChoiceOfIcuWithTextBesideItStaysUntranslated) {
  for (const std::string& text :
       {join_text("one ", kChoice), join_text(kChoice, " two"), std::string("{n, plural, one {x}"),
        std::string("{n, plural, one {x {m, select, other {y}}} other {z}}")}) {
    const std::string po = message(text, "");
    const MarkupDocument document = parse_po(po);
    EXPECT_TRUE(document.passages.empty()) << text;
    const TranslatedDocument result = translated_document(document, {});
    EXPECT_EQ(result.bytes, po);
    EXPECT_EQ(result.untranslated, 1u);
  }
}

TEST(Po, ATranslationChangesNoChoiceOfIcu) {
  const std::string po = message("{n, plural, one {# file} other {# files}}", "");
  for (const char* text : {"a }", "a { b", "# #", "{x}", "a'{"})
    EXPECT_EQ(translated(parse_po(po), [&](std::string_view) { return AlignedText{.text = text}; }),
              po)
        << text;
}

TEST(Po, StretchesThatIcuQuotesAreKept) {
  const auto reversed_branch = [](const std::string& text) {
    const std::string po = message("{n, plural, other {" + text + "}}", "");
    const std::string filled = translated(parse_po(po), reversed);
    const std::size_t begin = filled.find("other {", po.size() - 3) + 7;
    return filled.substr(begin, filled.rfind("}}") - begin);
  };
  EXPECT_EQ(reversed_branch("one '{'two'}' {x}"), "{x} '{'two'}' one");
  EXPECT_EQ(reversed_branch("one '{x}' and {x}"), "{x} and '{x}' one");
  EXPECT_EQ(reversed_branch("one '#' # two"), "two # '#' one");
  EXPECT_EQ(reversed_branch("it''s '{it''s}' {x}"), "{x} '{it''s}' it''s");
  EXPECT_EQ(reversed_branch("one of ''{x}''"), "''{x}'' of one");
  EXPECT_EQ(reversed_branch("one '''{'two {x}"), "{x} '''{'two one");
  EXPECT_EQ(reversed_branch("one '{a, select, other {b}}' two"),
            "two '{a, select, other {b}}' one");
}

TEST(Po, TwoApostrophesOfIcuAreOne) {
  const MarkupDocument document = parse_po(message("{n, select, other {it''s '{'x'}'}}", ""));
  ASSERT_EQ(document.passages.size(), 1u);
  EXPECT_EQ(document.passages[0].text, "it's '{'x'}'");
}

TEST(Po, AnApostropheOfATranslationQuotesNothingInAChoiceOfIcu) {
  const auto with_apostrophe = [](std::string_view text) {
    AlignedText translation = in_order(text);
    return AlignedText{.text = "d'" + translation.text};
  };
  const auto filled = [&](const std::string& text) {
    const std::string po =
        translated(parse_po(message("{n, plural, other {" + text + "}}", "")), with_apostrophe);
    return po.substr(po.find("msgstr"));
  };
  EXPECT_EQ(filled("{x} file"), "msgstr \"{n, plural, other {d\u2019{x} file}}\"\n");
  EXPECT_EQ(filled("{x}''s file"), "msgstr \"{n, plural, other {d''{x}''s file}}\"\n");
  EXPECT_EQ(filled("'{'x'}' file"), "msgstr \"{n, plural, other {d\u2019'{'x'}' file}}\"\n");
}

TEST(Po, AQuoteOfIcuWithoutAnEndLeavesItsMessageUntranslated) {
  const std::string po = message("{n, plural, other {the file of l'{x}}}", "");
  EXPECT_EQ(translated(parse_po(po), reversed), po);
}

TEST(Po, PlaceholdersComeOutOnce) {
  // The translator loses one, and doubles another.
  const MarkupDocument document =
      parse_po("msgid \"The %s of %(name)s has <b>{0}</b>\"\nmsgstr \"\"\n");
  ASSERT_EQ(document.passages.size(), 1u);
  EXPECT_EQ(document.passages[0].text, "The %s of %(name)s has {0}");
  const std::string po =
      translated_document(document, std::vector{AlignedText{.text = "Das %s von hat {0}"}}).bytes;
  for (const std::string kept : {"%(name)s", "%s", "{0}", "<b>", "</b>"}) {
    const std::string filled = po.substr(po.find("msgstr"));
    EXPECT_NE(filled.find(kept), std::string::npos) << kept << " in " << po;
    EXPECT_EQ(filled.find(kept), filled.rfind(kept)) << kept << " in " << po;
  }
}

TEST(Po, APlaceholderReplacesNoOtherWord) {
  const MarkupDocument document = parse_po("msgid \"a %s man\"\nmsgstr \"\"\n");
  const auto filled = [&](const AlignedText& translation) {
    const std::string po = translated_document(document, std::vector{translation}).bytes;
    return po.substr(po.find("msgstr"));
  };
  // The placeholder of a word that comes from all words of the source.
  EXPECT_EQ(filled({.text = "Mann", .words = {{{0, 4}, {{0, 0.35}, {1, 0.3}, {2, 0.35}}}}}),
            "msgstr \"Mann %s\"\n");
  EXPECT_EQ(filled({.text = "Mann"}), "msgstr \"%s Mann\"\n");
  EXPECT_EQ(filled({.text = "Mann x", .words = {{{0, 4}, {{2, 1}}}, {{5, 6}, {{1, 1}}}}}),
            "msgstr \"Mann %s\"\n");
}

TEST(Po, APlaceholderStandsAtAFullStopWithoutABlank) {
  const auto filled = [](const std::string& message, const AlignedText& translation) {
    const std::string po = translated_document(parse_po("msgid \"" + message + "\"\nmsgstr \"\"\n"),
                                               std::vector{translation})
                               .bytes;
    return po.substr(po.find("msgstr"));
  };
  const AlignedText dogs{.text = "keine Hunde.",
                         .words = {{{0, 5}, {{0, 1}}}, {{6, 12}, {{1, 1}}}}};
  for (const std::string sign : {".", ",", ";", ":", "!", "?", ")", "\u2026", "\u3002", "\u061F"}) {
    AlignedText translation = dogs;
    translation.text.replace(11, 1, sign);
    translation.words[1].place.end = translation.text.size();
    EXPECT_EQ(filled("no dogs %d now", translation), "msgstr \"keine Hunde %d" + sign + "\"\n");
  }
  EXPECT_EQ(filled("no %d dogs",
                   {.text = "keine (Hunde)", .words = {{{0, 5}, {{0, 1}}}, {{6, 13}, {{2, 1}}}}}),
            "msgstr \"keine %d (Hunde)\"\n");
}

TEST(Po, AModelSeesAShortPlaceholder) {
  const std::string message = "#, java-format\nmsgid \"a {0,number,integer} man\"\nmsgstr \"\"\n";
  const MarkupDocument document = parse_po(message);
  EXPECT_EQ(document.passages.at(0).text, "a {0} man");
  EXPECT_THAT(translated(document, reversed), testing::HasSubstr("\"man {0,number,integer} a\""));
}

TEST(Po, ATranslationWithItsOwnTagsOrPlaceholdersIsNotTaken) {
  const auto filled = [](const std::string& message, const std::string& translation) {
    const MarkupDocument document = parse_po("msgid \"" + message + "\"\nmsgstr \"\"\n");
    const std::string po =
        translated_document(document, std::vector{AlignedText{.text = translation}}).bytes;
    return po.substr(po.find("msgstr"));
  };
  for (const std::string own : {"eins <br> zwei", "eins </b>", "eins <", "eins %s", "eins {0}"}) {
    EXPECT_EQ(filled("one two", own), "msgstr \"\"\n");
    EXPECT_EQ(filled("one <b>two</b>", own), "msgstr \"\"\n");
  }
  EXPECT_EQ(filled("one < two", "eins < zwei"), "msgstr \"eins < zwei\"\n");
  EXPECT_EQ(filled("one < two", "eins zwei"), "msgstr \"eins zwei\"\n");
}

TEST(Po, LettersAfterAPlaceholderBelongToIt) {
  EXPECT_EQ(reversed_po("msgid \"read %dMB in %ds\"\nmsgstr \"\"\n"),
            "msgid \"read %dMB in %ds\"\nmsgstr \"%dMB in %ds read\"\n");
}

/// The translation of a message with these flags, whose words are in reverse order.
std::string reversed_message(const std::string& flags, const std::string& message) {
  const std::string po = reversed_po(flags + "msgid \"" + message + "\"\nmsgstr \"\"\n");
  return po.substr(po.find("msgstr"));
}

TEST(Po, PlaceholdersThatCountTheirArgumentsGetNumbersIfTheirOrderChanges) {
  EXPECT_EQ(reversed_message("#, c-format\n", "%d of %s"), "msgstr \"%2$s of %1$d\"\n");
  EXPECT_EQ(reversed_message("#, fuzzy, php-format\n", "%5.2f, %% and %s"),
            "msgstr \"%2$s and %% %1$5.2f,\"\n");
  EXPECT_EQ(reversed_message("#, c-format\n", "one %s"), "msgstr \"%s one\"\n");
  EXPECT_EQ(reversed_message("#, c-format\n", "%2$s of %1$d"), "msgstr \"%1$d of %2$s\"\n");
}

TEST(Po, PlaceholdersThatCannotHaveNumbersKeepTheirOrder) {
  EXPECT_EQ(reversed_message("", "%d of %s"), "msgstr \"%d of %s\"\n");
  EXPECT_EQ(reversed_message("#, python-format\n", "%d of %s"), "msgstr \"%d of %s\"\n");
  EXPECT_EQ(reversed_message("#, python-format\n", "%(a)d of %(b)s"),
            "msgstr \"%(b)s of %(a)d\"\n");
  EXPECT_EQ(reversed_message("#, python-brace-format\n", "{:d} of {}"), "msgstr \"{:d} of {}\"\n");
  EXPECT_EQ(reversed_message("#, c-format\n", "%*d of %s"), "msgstr \"%*d of %s\"\n");
  EXPECT_EQ(reversed_message("#, c-format\n", "%d of %<PRIu64>"), "msgstr \"%d of %<PRIu64>\"\n");
  // Numbers in one line and none in another would be an error of its own.
  EXPECT_EQ(reversed_message("#, c-format\n", "%d of %s\\n%d more"),
            "msgstr \"\"\n\"%d of %s\\n\"\n\"more %d\"\n");
}

TEST(Po, PlaceholdersAreThoseOfTheFormatOfAMessage) {
  for (const auto& [flag, placeholder] :
       std::vector<std::pair<std::string, std::string>>{{"kde-format", "%1"},
                                                        {"qt-format", "%L1"},
                                                        {"c-format", "%1$*2$d"},
                                                        {"python-format", "%(x)r"},
                                                        {"python-brace-format", "{a:>{w}}"},
                                                        {"php-format", "%'*10s"},
                                                        {"boost-format", "%|5|"},
                                                        {"sh-format", "$name"},
                                                        {"java-printf-format", "%,d"},
                                                        {"ruby-format", "%-10<x>s"},
                                                        {"lisp-format", "~a"}}) {
    const MarkupDocument document =
        parse_po("#, " + flag + "\nmsgid \"a " + placeholder + " b\"\nmsgstr \"\"\n");
    const std::string po =
        translated_document(document, std::vector{AlignedText{.text = "eins"}}).bytes;
    EXPECT_NE(po.find(placeholder, po.find("msgstr")), std::string::npos) << po;
  }
  EXPECT_EQ(reversed_message("#, kde-format\n", "%1 of %2"), "msgstr \"%2 of %1\"\n");
  EXPECT_EQ(reversed_message("#, lisp-format\n", "~a of ~d"), "msgstr \"~a of ~d\"\n");
  EXPECT_EQ(reversed_message("#, php-format\n", "%'010d of %s"), "msgstr \"%2$s of %1$'010d\"\n");
  EXPECT_EQ(reversed_message("#, java-printf-format\n", "one%ntwo three"),
            "msgstr \"three one%ntwo\"\n");
  EXPECT_EQ(reversed_message("#, fuzzy\n#, kde-format\n", "one %1"), "msgstr \"%1 one\"\n");
}

TEST(Po, AMessageStaysUntranslatedIfItsTranslationHasOtherPlaceholders) {
  const std::string message = "msgid \"one %d\"\nmsgstr \"\"\n\nmsgid \"two\"\nmsgstr \"\"\n";
  const TranslatedDocument flagged = translated_as("#, c-format\n" + message, "zwei 100 % drei");
  EXPECT_EQ(flagged.bytes,
            "#, c-format\nmsgid \"one %d\"\nmsgstr \"\"\n\nmsgid \"two\"\nmsgstr \"zwei 100 % "
            "drei\"\n");
  EXPECT_EQ(flagged.untranslated, 1u);
  const TranslatedDocument unflagged = translated_as(message, "zwei 100 % drei");
  EXPECT_EQ(unflagged.untranslated, 0u);
  EXPECT_EQ(unflagged.bytes.find("\"\"\n"), std::string::npos) << unflagged.bytes;
}

TEST(Po, AnEmptyTranslationIsNotTaken) {
  const std::string po = "msgid \"one\"\nmsgstr \"\"\n\nmsgid \"one %d <b>x</b>\"\nmsgstr \"\"\n";
  for (const char* text : {"", "\u2026"}) {
    EXPECT_EQ(translated_as(po, text).untranslated, 2u) << text;
    EXPECT_EQ(translated_as(po, text).bytes, po) << text;
  }
  EXPECT_EQ(translated_as(po, "eins").untranslated, 0u);
  EXPECT_EQ(translated_as("msgid \"%d\\n\"\nmsgstr \"\"\n", "").bytes,
            "msgid \"%d\\n\"\nmsgstr \"%d\\n\"\n");
}

TEST(Po, AnyTranslationKeepsTheMessagesPlaceholdersAndFields) {
  const std::string head = "#, c-format\nmsgid \"\\n%d one\\ttwo %s\\nthree\\n\"\nmsgstr ";
  int filled = 0;
  for (int i = 0; i < 1'000; ++i) {
    RandomStream random(9, i);
    const std::string po = translated(parse_po(head + "\"\"\n"), [&](std::string_view text) {
      return adversarial_translation(text, random);
    });
    ASSERT_TRUE(po.starts_with(head)) << po;
    // The translation as the message of another catalogue.
    const std::string text = po.substr(head.size());
    if (text == "\"\"\n") continue;
    ++filled;
    ASSERT_TRUE(text.starts_with("\"\"\n\"\\n\"\n")) << text;
    ASSERT_TRUE(text.ends_with("\\n\"\n")) << text;
    ASSERT_TRUE(have_same_directives(format_syntaxes("#, c-format"), "%d %s", text)) << text;
    ASSERT_EQ(parse_po("msgid " + text + "msgstr \"\"\n").passages.size(), 3u) << text;
  }
  EXPECT_GT(filled, 0);
}

TEST(Po, TabsDivideAMessageAndStay) {
  EXPECT_EQ(reversed_message("", "\\tone two\\tthree\\vfour five\\r\\nsix"),
            "msgstr \"\"\n\"\\ttwo one\\tthree\\013five four\\r\\n\"\n\"six\"\n");
  // Numbers in one field and none in another would be an error of its own.
  EXPECT_EQ(reversed_message("#, c-format\n", "%d of %s\\tmore %d"),
            "msgstr \"%d of %s\\t%d more\"\n");
}

TEST(Po, AMessageWhoseFieldLosesItsWordsStaysUntranslated) {
  const std::string po = "msgid \"one\\n\\ntwo\\tthree\\n\"\nmsgstr \"\"\n";
  const MarkupDocument document = parse_po(po);
  ASSERT_EQ(document.passages.size(), 3u);
  for (std::size_t lost = 0; lost < 3; ++lost) {
    std::vector<AlignedText> texts(3, {.text = "eins"});
    texts[lost].text = "";
    EXPECT_EQ(translated_document(document, texts).bytes, po);
    EXPECT_EQ(translated_document(document, texts).untranslated, 1u);
  }
}

TEST(Po, APluralNeedsARule) {
  const std::string plural =
      "msgid \"one cat\"\nmsgid_plural \"two cats\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n";
  const auto header = [](const std::string& fields) {
    return "msgid \"\"\nmsgstr \"\"\n" + fields + "\n";
  };
  const std::string pot_rule = "\"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n\"\n";
  for (const std::string& begin :
       {std::string(), header(""), header(pot_rule), header("\"Language: \\n\"\n" + pot_rule),
        header("\"Language: tlh\\n\"\n"), header("\"Language: de\"\n")}) {
    EXPECT_EQ(translated_as(begin + plural, "x").bytes, begin + plural);
    EXPECT_EQ(translated_as(begin + plural, "x").untranslated, 1u);
  }
  const std::string german = "\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n";
  const std::string filled =
      "msgid \"one cat\"\nmsgid_plural \"two cats\"\nmsgstr[0] \"cat one\"\nmsgstr[1] \"cats "
      "two\"\n";
  for (const std::string language : {"\"Language: de\\n\"\n", "\"Language: de_AT\\n\"\n"}) {
    EXPECT_EQ(reversed_po(header(language) + plural), header(language + german) + filled);
    EXPECT_EQ(reversed_po(header(pot_rule + language) + plural),
              header(german + language) + filled);
  }
}

TEST(Po, AnEmptyPluralGetsTheFormsOfItsRule) {
  const std::string message = "msgid \"a\"\nmsgid_plural \"b\"\n";
  const std::string end = "\n# end\n";
  EXPECT_EQ(reversed_plurals(3, message + "msgstr[0] \"\"\nmsgstr[1] \"\"\n" + end),
            message + "msgstr[0] \"a\"\nmsgstr[1] \"b\"\nmsgstr[2] \"b\"\n" + end);
  EXPECT_EQ(reversed_plurals(1, message + "msgstr[0] \"\"\nmsgstr[1] \"\"\n" + end),
            message + "msgstr[0] \"b\"\n" + end);
  EXPECT_EQ(reversed_plurals(2, message + "msgstr[0] \"\""),
            message + "msgstr[0] \"a\"\nmsgstr[1] \"b\"");
  EXPECT_EQ(reversed_plurals(3, message + "msgstr[0] \"x\"\nmsgstr[1] \"\"\n"),
            message + "msgstr[0] \"x\"\nmsgstr[1] \"b\"\n");
}

TEST(Po, AllFormsOfAMessageStayUntranslatedTogether) {
  const std::string po =
      header_of(3) +
      "#, c-format\nmsgid \"one cat\"\nmsgid_plural \"%d cats\"\nmsgstr[0] \"\"\n# x\n"
      "msgstr[1] \"\"\nmsgstr[2] \"%d da\"\n";
  EXPECT_EQ(translated_as(po, "%y").bytes, po);
  EXPECT_EQ(translated_as(po, "%y").untranslated, 1u);
  EXPECT_EQ(translated_as(po, "x").untranslated, 0u);
}

TEST(Po, TheHeaderDeclaresUtf8IfATranslationIsFilledIn) {
  const auto po = [](const std::string& charset, const std::string& translation) {
    return "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=" + charset +
           "\\n\"\n\"Language: de\\n\"\n\nmsgid \"one\"\nmsgstr \"" + translation + "\"\n";
  };
  for (const std::string charset : {"CHARSET", "ISO-8859-1", "UTF-8"})
    EXPECT_EQ(translated_as(po(charset, ""), "\u00e4").bytes, po("UTF-8", "\u00e4"));
  EXPECT_EQ(translated_as(po("utf-8", ""), "\u00e4").bytes, po("utf-8", "\u00e4"));
  EXPECT_EQ(reversed_po(po("ISO-8859-1", "eins")), po("ISO-8859-1", "eins"));
}

TEST(Po, ALineMayHaveSeveralKeywords) {
  EXPECT_EQ(reversed_po("msgid \"one two\" msgstr \"\"\n"),
            "msgid \"one two\" msgstr \"two one\"\n");
  EXPECT_EQ(
      reversed_plurals(2,
                       "msgctxt \"x\" msgid \"one \" \"two\" msgid_plural \"ones twos\" msgstr[0] "
                       "\"\" msgstr[1] \"\"\n\"\" msgid \"x y\"msgstr\"\""),
      "msgctxt \"x\" msgid \"one \" \"two\" msgid_plural \"ones twos\" msgstr[0] "
      "\"two one\" msgstr[1] \"twos ones\" msgid \"x y\"msgstr \"y x\"");
}

TEST(Po, FlagsAreThoseOfOneMessage) {
  const std::string po =
      reversed_po("#, c-format\nmsgid \"a\"\nmsgstr \"b\"\n\nmsgid \"%d of %s\"\nmsgstr \"\"\n");
  EXPECT_NE(po.find("msgstr \"%d of %s\""), std::string::npos) << po;
}

TEST(Po, TheFormOfOneServesOtherNumbersIfThereAreNotTwoForms) {
  const std::string message = "msgid \"one cat\"\nmsgid_plural \"%d cats\"\n";
  EXPECT_EQ(reversed_plurals(1, message + "msgstr[0] \"\"\n"), message + "msgstr[0] \"cats %d\"\n");
  EXPECT_EQ(reversed_plurals(2, message + "msgstr[0] \"\"\nmsgstr[1] \"\"\n"),
            message + "msgstr[0] \"cat one\"\nmsgstr[1] \"cats %d\"\n");
  EXPECT_EQ(reversed_plurals(3, message + "msgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n"),
            message + "msgstr[0] \"cats %d\"\nmsgstr[1] \"cats %d\"\nmsgstr[2] \"cats %d\"\n");
}

TEST(Po, TheFirstOfThreeFormsHasThePlaceholdersOfThePlural) {
  for (const auto& [flag, placeholder] :
       {std::pair("", "{n}"), std::pair("#, python-brace-format\n", "{n}"),
        std::pair("#, kde-format\n", "%1"), std::pair("#, python-format\n", "%(n)d")}) {
    const std::string message =
        join_text(flag, "msgid \"one cat\"\nmsgid_plural \"cats ", placeholder, "\"\n");
    const auto forms = [&message](const std::string& first, const std::string& others) {
      return join_text(message, "msgstr[0] \"", first, "\"\nmsgstr[1] \"", others,
                       "\"\nmsgstr[2] \"", others, "\"\n");
    };
    const std::string plural = join_text(placeholder, " cats");
    EXPECT_EQ(reversed_plurals(3, forms("", "")), forms(plural, plural));
  }
}

TEST(Po, LineEndsAreThoseOfTheFile) {
  EXPECT_EQ(reversed_po("msgid \"one two\"\r\nmsgstr \"\"\r\n"),
            "msgid \"one two\"\r\nmsgstr \"two one\"\r\n");
}

TEST(Po, WhiteSpaceAroundALineStays) {
  EXPECT_EQ(reversed_message("", "\\tone two:\\t"), "msgstr \"\\ttwo: one\\t\"\n");
  EXPECT_EQ(reversed_message("", "one two\\r\\nthree"),
            "msgstr \"\"\n\"two one\\r\\n\"\n\"three\"\n");
}

TEST(Po, AMessageIsFilledInOnlySoOften) {
  const std::string message = "msgid \"one two\"\nmsgid_plural \"ones\"\n";
  std::string forms;
  for (int i = 0; i < 8; ++i) forms += "msgstr[" + std::to_string(i) + "] \"\"\n";
  EXPECT_EQ(parse_po(header_of(8) + message + forms + "\n" + message + forms).passages.size(), 16u);
  EXPECT_THAT(error_of(message + forms + "msgstr[8] \"\"\n"), Names("line 11 ... 8 plural forms"));
  EXPECT_THAT(error_of("msgid \"one\"\nmsgstr \"\"\nmsgstr \"\"\n"),
              Names("line 3 ... msgstr ... twice"));
  EXPECT_THAT(error_of("msgid \"one\"\n\nmsgid \"two\"\n"), Names("line 3 ... msgid ... twice"));
  const std::string once = "msgid \"one\"\nmsgstr \"\"\n";
  std::string contexts;
  for (int i = 0; i < 100; ++i) contexts += "msgctxt \"x\"\nmsgstr \"\"\n";
  EXPECT_EQ(parse_po(once + contexts).passages.size(), 1u) << "a message is that of its own entry";
  EXPECT_EQ(parse_po("msgctxt \"x\"\n" + once + "msgctxt \"y\"\n" + once).passages.size(), 2u);
}

TEST(Po, FaultsAreNamedWithTheirLine) {
  EXPECT_THAT(error_of("msgid \"one\"\nmsgstr one\n"), testing::StartsWith("po: line 2: "));
  EXPECT_THAT(error_of("msgid \"one\nmsgstr \"\"\n"), testing::StartsWith("po: line 1: "));
  EXPECT_THAT(error_of("\"one\"\n"), testing::StartsWith("po: line 1: "));
  EXPECT_THAT(error_of("msgid \"one\" two \"three\"\n"), testing::HasSubstr("after a string"));
  EXPECT_THAT(error_of("msgid \"one\\\""), testing::HasSubstr("second quote"));
  EXPECT_EQ(error_of(""), "");
}

}  // namespace
}  // namespace dragoman
