// dragoman explain writes a page, numbers or a figure, and names the fault where it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Json = nlohmann::json;

class Explain : public Translate {
 protected:
  std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"explain", "-m", folder_.path(), "--max-length", "6"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  void expect_failure(const std::vector<std::string>& more, int exit_code,
                      const std::string& text) const {
    const auto result = run(words(more));
    EXPECT_EQ(result.exit_code, exit_code) << result.errors;
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr(text));
  }
};

TEST_F(Explain, ItsTranslationsAreThoseOfTranslate) {
  const std::string input = folder_ / "in.txt";
  write_file(input, "the cat sat\nmat number 7\n");
  const auto result = run(words({"-i", input, "--format", "json", "-o", "-"}));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json sentences = Json::parse(result.output)["sentences"];
  ASSERT_EQ(sentences.size(), 2u);
  std::string translations;
  for (const Json& sentence : sentences)
    translations += sentence["target"].get<std::string>() + "\n";
  EXPECT_EQ(translations, run(Translate::words({"-i", input})).output);
}

TEST_F(Explain, WritesAPageThatHasTheNumbers) {
  const std::string page = folder_ / "page.html";
  const auto result = run(words({"the cat sat", "--target", "the mat", "-o", page}));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  const std::string html = read_file(page);
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("\"target\":\"the mat\""));
}

TEST_F(Explain, DrawsOneAttention) {
  for (const auto& [kind, title] :
       {std::pair("encoder", "Encoder self-attention, layer 1, head 2"),
        std::pair("decoder", "Decoder self-attention, layer 1, head 2"),
        std::pair("cross", "Attention from decoder to encoder, layer 1, head 2")}) {
    const auto result = run(words(
        {"the cat", "--format", "svg", "--kind", kind, "--layer", "1", "--head", "2", "-o", "-"}));
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, StartsWith("<svg "));
    EXPECT_THAT(result.output, HasSubstr(title));
  }
}

TEST_F(Explain, NamesTheWrongFlagOrText) {
  const std::string two = folder_ / "two.txt", three = folder_ / "three.txt";
  write_file(two, "the cat\n\n");
  write_file(three, "a\nb\nc\n");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "cat ";
  expect_failure({"-o", "-"}, 2, "name a sentence");
  expect_failure({"a cat", "-i", two, "-o", "-"}, 2, "--input");
  expect_failure({"a cat"}, 2, "--output");
  expect_failure({"a cat", "-o", "-", "--format", "svg", "--layer", "2"}, 2, "--layer 2");
  expect_failure({"a cat", "-o", "-", "--format", "svg", "--head", "3"}, 2, "--head 3");
  expect_failure({"a cat", "-o", "-", "--layer", "1"}, 2, "--layer: belongs to --format svg");
  expect_failure({"a cat", "-o", "-", "--attention-layer", "9"}, 2, "--attention-layer 9");
  expect_failure({"-i", two, "-o", "-"}, 1, "line 2: the sentence has no text");
  expect_failure({"-i", two, "--target-file", three, "-o", "-"}, 1, "three.txt");
  expect_failure({"-i", folder_ / "nowhere", "-o", "-"}, 1, "nowhere");
  expect_failure({many, "-o", "-"}, 1, " pieces; explain looks at 256 at most");
  const std::string model = folder_ / "model.safetensors";
  expect_failure({"a cat", "--format", "json", "-o", model}, 2, "model.safetensors");
  write_file(folder_ / "many.txt", std::string(202, '\n'));
  expect_failure({"-i", folder_ / "many.txt", "-o", "-"}, 1, "has 202 lines; explain looks at 100");
  write_file(folder_ / "text.html", "no page");
  expect_failure({"a cat", "-o", folder_ / "text.html"}, 2, "is no page");
  EXPECT_EQ(read_file(folder_ / "text.html"), "no page");
}

}  // namespace
}  // namespace dragoman
