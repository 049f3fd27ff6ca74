// dragoman translate --markup, with a model of untrained weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

/// The tags of a page, in their order.
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

TEST_F(Translate, ADocumentThatCannotBeReadLeavesNoOutput) {
  const std::string out = folder_ / "out.xml";
  const ProcessResult result = run(words({"--markup", "xml", "-o", out}), "<a>\n</b>");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("line 2, column 3"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace dragoman
