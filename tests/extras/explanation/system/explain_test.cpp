// dragoman explain writes a page, numbers or a figure, and names the fault if it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "tests/names.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
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
    EXPECT_THAT(result.errors, Names(text));
  }
};

TEST_F(Explain, TranslationsAreThoseOfTranslate) {
  const std::string input = folder_ / "in.txt";
  write_file(input, "the cat sat\nmat number 7\n");
  const auto result = run(words({"-i", input, "--format", "json", "-o", "-"}));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json sentences = parse_json(result.output)["sentences"];
  ASSERT_EQ(sentences.size(), 2u);
  std::string translations;
  for (const Json& sentence : sentences)
    translations += sentence["target"].get<std::string>() + "\n";
  EXPECT_EQ(translations, run(Translate::words({"-i", input})).output);
}

TEST_F(Explain, ThePageHasTheNumbers) {
  const std::string page = folder_ / "page.html";
  const auto result = run(words({"the cat sat", "--target", "the mat", "-o", page}));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  const std::string html = read_file(page);
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("\"target\":\"the mat\""));
}

TEST_F(Explain, OneAttentionIsDrawn) {
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

TEST_F(Explain, TheNameOfTheOutputTellsTheFormat) {
  const auto written = [&](const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"the cat", "-o", folder_ / name};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run(words(all));
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return read_file(folder_ / name);
  };
  EXPECT_THAT(written("a.json"), StartsWith("{\"format\":\"dragoman explanation\""));
  EXPECT_THAT(written("a.svg", {"--kind", "encoder"}), StartsWith("<svg "));
  EXPECT_THAT(written("a.htm"), StartsWith("<!doctype html>"));
  EXPECT_THAT(written("b.txt", {"--format", "json"}), StartsWith("{"));
  EXPECT_THAT(written("c.json", {"--format", "svg"}), StartsWith("<svg "));
}

TEST_F(Explain, AllHeadsAndTheVectorsOfATokenAreDrawn) {
  const auto drawn = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"the cat", "--format", "svg", "-o", "-"};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run(words(all));
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.output, StartsWith("<svg "));
    return result.output;
  };
  const std::string heads = drawn({"--figure", "heads", "--kind", "decoder"});
  EXPECT_THAT(heads, HasSubstr("Decoder self-attention, all heads"));
  EXPECT_THAT(heads, AllOf(HasSubstr(">head 2<"), HasSubstr(">layer 1<"), HasSubstr(" bits<")));
  EXPECT_THAT(drawn({"--figure", "input", "--token", "2"}),
              AllOf(HasSubstr("Input in the encoder, token 2: "), HasSubstr("+ position 1<")));
  EXPECT_THAT(drawn({"--figure", "feed-forward", "--kind", "decoder", "--layer", "1"}),
              HasSubstr("Feed-forward network of layer 1 in the decoder, token 1: &lt;s&gt;"));
  EXPECT_THAT(drawn({"--figure", "residual", "--kind", "decoder"}),
              HasSubstr("+ cross-attention 1<"));
}

TEST_F(Explain, LinesWithoutTextAreLeftOut) {
  const std::string input = folder_ / "in.txt", targets = folder_ / "targets.txt";
  write_file(input, "the cat\n\nthe mat\n \n");
  write_file(targets, "a\nb\nc\n\n");
  const auto result =
      run(words({"-i", input, "--target-file", targets, "--format", "json", "-o", "-"}));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json sentences = parse_json(result.output)["sentences"];
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[1]["source"], "the mat");
  EXPECT_EQ(sentences[1]["target"], "c");
  EXPECT_THAT(result.errors, AllOf(Names("in.txt ... line 2 ... no text"),
                                   Names("in.txt ... line 4 ... no text")));
}

TEST_F(Explain, AnErrorNamesTheWrongFlagOrText) {
  const std::string two = folder_ / "two.txt", three = folder_ / "three.txt";
  write_file(two, "the cat\nthe mat\n");
  write_file(three, "a\nb\nc\n");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "cat ";
  expect_failure({"-o", "-"}, 2, "name a sentence");
  expect_failure({"a cat", "-i", two, "-o", "-"}, 2, "--input");
  expect_failure({"-i", "-", "--target-file", "-", "-o", "-"}, 2,
                 "--input, --target-file ... standard input");
  expect_failure({"a cat"}, 2, "--output");
  expect_failure({"a cat", "-o", "-", "--format", "svg", "--layer", "2"}, 2,
                 "--layer 2 ... --kind cross ... 1 layer");
  expect_failure({"a cat", "-o", "-", "--format", "svg", "--head", "3"}, 2, "--head 3 ... 2 heads");
  expect_failure({"a cat", "-o", "-", "--layer", "1"}, 2, "--layer ... --format svg");
  expect_failure({"a cat", "-o", "-", "--format", "svg", "--layer", "-1"}, 2,
                 "--layer -1 ... 1 ... 0");
  expect_failure({"a cat", "-o", "-", "--format", "svg", "--head", "-2"}, 2,
                 "--head -2 ... 1 ... 0");
  for (const char* empty : {"", "   ", "\u3000"}) {
    expect_failure({empty, "-o", "-"}, 2, "--text ... no text");
    expect_failure({"a cat", "--target", empty, "-o", "-"}, 2, "--target ... no text");
  }
  expect_failure({"a cat", "-o", folder_ / "a.png"}, 2, "--output ... .png");
  const auto expect_no_figure = [&](const std::vector<std::string>& more, const char* text) {
    std::vector<std::string> all = {"a cat", "-o", "-", "--format", "svg", "--figure"};
    all.insert(all.end(), more.begin(), more.end());
    expect_failure(all, 2, text);
  };
  expect_no_figure({"heads", "--head", "1"}, "--head ... --figure heads");
  expect_no_figure({"residual", "--layer", "1"}, "--layer ... --figure residual");
  expect_no_figure({"input", "--kind", "cross"}, "encoder ... decoder");
  expect_no_figure({"input", "--token", "99"}, "--token 99 ... sentence");
  expect_no_figure({"input", "--token", "0"}, "--token 0: ");
  expect_failure({"a cat", "-o", "-", "--attention-layer", "9"}, 2, "--attention-layer 9");
  write_file(three, "the cat\n\n" + many + "\n");
  expect_failure({"-i", three, "-o", "-"}, 1, "line 3 ... sentence");
  write_file(three, "a\n \n");
  expect_failure({"-i", two, "--target-file", three, "-o", "-"}, 1,
                 "line 2 ... translation ... no text");
  write_file(three, "\n \n");
  expect_failure({"-i", three, "-o", "-"}, 1, "three.txt ... text");
  write_file(three, "a\nb\nc\n");
  expect_failure({"-i", two, "--target-file", three, "-o", "-"}, 1, "three.txt");
  expect_failure({"-i", folder_ / "nowhere", "-o", "-"}, 1, "nowhere");
  expect_failure({many, "-o", "-"}, 1, "pieces ... 256");
  const std::string model = folder_ / "model.safetensors";
  expect_failure({"a cat", "--format", "json", "-o", model}, 2, "model.safetensors");
  write_file(folder_ / "many.txt", std::string(202, '\n'));
  expect_failure({"-i", folder_ / "many.txt", "-o", "-"}, 1, "202 lines ... 100");
  write_file(folder_ / "text.html", "no page");
  expect_failure({"a cat", "-o", folder_ / "text.html"}, 2, "text.html ... page");
  EXPECT_EQ(read_file(folder_ / "text.html"), "no page");
}

}  // namespace
}  // namespace dragoman
