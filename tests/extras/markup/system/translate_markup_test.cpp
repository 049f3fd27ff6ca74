// dragoman translate --markup, with a model of untrained weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

/// The tags of a page, in order.
std::vector<std::string> tags_of(const std::string& html) {
  std::vector<std::string> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1))
    tags.push_back(html.substr(at, html.find('>', at) + 1 - at));
  return tags;
}

TEST_F(Translate, APageKeepsItsMarkup) {
  const std::string page =
      "<!doctype html>\n<h1>the cat</h1>\n<p>the cat <b>number 7</b> sat</p>\n"
      "<code>the mat</code>\n";
  write_file(folder_ / "page.html", page);
  const std::string in = folder_ / "page.html", out = folder_ / "page.de.html";
  const ProcessResult result = run(words({"--markup", "html", "-i", in, "-o", out}));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::string translated = read_file(out);
  EXPECT_EQ(tags_of(translated).size(), tags_of(page).size()) << translated;
  EXPECT_TRUE(translated.starts_with("<!doctype html>\n<h1>")) << translated;
  EXPECT_TRUE(translated.ends_with("</p>\n<code>the mat</code>\n")) << translated;
  EXPECT_NE(translated, page);
  EXPECT_EQ(run(words({"--markup", "html"}), page).output, translated) << "in a pipe";
}

TEST_F(Translate, TheNameOfTheInputChoosesTheMarkup) {
  const std::string page = "<p>the cat sat</p>\n", in = folder_ / "page.html";
  write_file(in, page);
  const ProcessResult by_name = run(words({"-i", in}));
  ASSERT_EQ(by_name.exit_code, 0) << by_name.errors;
  EXPECT_EQ(by_name.output, run(words({"--markup", "html", "-i", in})).output);
  EXPECT_THAT(by_name.errors, testing::AllOf(HasSubstr("html"), HasSubstr("--markup none")));
  const ProcessResult lines = run(words({"--markup", "none", "-i", in}));
  EXPECT_EQ(lines.output, run(words({}), page).output);
  EXPECT_THAT(lines.errors, testing::Not(HasSubstr("--markup none")));
  const ProcessResult n_best = run(words({"--n-best", "2", "-i", in}));
  EXPECT_EQ(n_best.output, run(words({"--n-best", "2"}), page).output);
  EXPECT_THAT(n_best.errors, HasSubstr("--n-best"));
  expect_one_error(run(words({"-i", folder_ / "missing.html"})), 1, "missing.html ... open");
}

TEST_F(Translate, MarkdownIsReadAsLinesAndAMessageNamesItsFlag) {
  const std::string text = "# the cat\n", in = folder_ / "README.md";
  write_file(in, text);
  const ProcessResult lines = run(words({"-i", in}));
  EXPECT_EQ(lines.output, run(words({}), text).output);
  EXPECT_THAT(lines.errors, HasSubstr("--markup markdown"));
  EXPECT_THAT(run(words({"--markup", "none", "-i", in})).errors,
              testing::Not(HasSubstr("--markup markdown")));
}

/// Two messages of each format, which have two placeholders each.
std::string catalogue_of_formats() {
  std::string po =
      "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=CHARSET\\n\"\n"
      "\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n";
  int number = 0;
  for (const auto& [format, one, other] :
       std::vector<std::array<std::string, 3>>{{"c", "% d", "%.*f"},
                                               {"c", "%1$*2$d", "%3$'d"},
                                               {"objc", "%@", "%lu"},
                                               {"python", "%(x)r", "%(a b)s"},
                                               {"python-brace", "{a}", "{b.c}"},
                                               {"java", "{0,number,integer}", "{1}"},
                                               {"java-printf", "%,d", "%tY"},
                                               {"csharp", "{0:C}", "{1,-10}"},
                                               {"javascript", "%j", "%o"},
                                               {"scheme", "~a", "~10d"},
                                               {"lisp", "~d", "~s"},
                                               {"elisp", "%S", "%d"},
                                               {"librep", "%s", "%d"},
                                               {"ruby", "%-10<x>s", "%{y}"},
                                               {"sh", "$name", "${other}"},
                                               {"awk", "%i", "%s"},
                                               {"tcl", "%1$s", "%2$s"},
                                               {"lua", "%q", "%5d"},
                                               {"object-pascal", "%0:d", "%1:s"},
                                               {"smalltalk", "%1", "%2"},
                                               {"ycp", "%1", "%2"},
                                               {"qt", "%1", "%L2"},
                                               {"kde", "%1", "%2"},
                                               {"boost", "%|1$5|", "%2%"},
                                               {"perl", "%vd", "%s"},
                                               {"perl-brace", "{a}", "{b}"},
                                               {"php", "%'010d", "%'*10s"},
                                               {"gcc-internal", "%qs", "%E"},
                                               {"gfc-internal", "%C", "%d"}})
    for (const char* order : {"the cat %A sat on %B", "%B sat on number %A"}) {
      std::string text = order;
      text.replace(text.find("%A"), 2, one);
      text.replace(text.find("%B"), 2, other);
      po += join_text("\n#, ", format, "-format\nmsgctxt \"", ++number, "\"\nmsgid \"", text,
                      "\"\nmsgid_plural \"", text, "\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n");
    }
  return po;
}

TEST_F(Translate, GettextAcceptsACatalogueInEachFormat) {
  if (Process(CommandWords{{"sh", "-c", "command -v msgfmt"}}).wait().exit_code != 0)
    GTEST_SKIP() << "msgfmt of gettext is not installed";
  const ProcessResult result = run(words({"--markup", "po"}), catalogue_of_formats());
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, testing::Not(HasSubstr("untranslated"))) << result.output;
  const std::string path = folder_ / "de.po";
  write_file(path, result.output);
  Process gettext(CommandWords{{"msgfmt", "-c", "--statistics", "-o", "/dev/null", path}});
  const ProcessResult checked = gettext.wait();
  EXPECT_EQ(checked.exit_code, 0) << checked.errors << result.output;
  EXPECT_THAT(checked.errors, HasSubstr("58 translated messages."));
}

TEST_F(Translate, ADocumentThatCannotBeReadLeavesNoOutput) {
  const std::string out = folder_ / "out.xml";
  const ProcessResult result = run(words({"--markup", "xml", "-o", out}), "<a>\n</b>");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("line 2, column 3"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace dragoman
