// evaluate --html writes a page beside the scores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

/// The data of a page.
nlohmann::json data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

class EvaluateHtml : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    write_file(path, text);
    return path.string();
  }

  TemporaryFolder folder_;
  const std::string reference_ = file("ref", "a cat sat\nthe dog is here\nnothing\n");
  const std::string good_ = file("good", "a cat sat\nthe dog was here\nnothing\n");
  const std::string bad_ = file("bad", "the cats\na dog\n\n");
};

TEST_F(EvaluateHtml, SystemsAreComparedOnAPageOfTheirSentences) {
  const std::string page = (folder_ / "page.html").string();
  const auto result =
      run({"evaluate", "--hyp", bad_, good_, "--ref", reference_, "--src", reference_, "--metrics",
           "chrf", "ter", "--paired-ar", "--format", "json", "--html", page});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto list = nlohmann::json::parse(result.output);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["system"], bad_);
  const auto data = data_of(read_file(page));
  EXPECT_EQ(data["systems"][0]["name"], "bad");
  EXPECT_EQ(data["translations"][1][1], "the dog was here");
  EXPECT_EQ(data["metrics"][0]["scores"][1]["score"], list[1]["chrF2"]["score"]);
  EXPECT_EQ(data["metrics"][1]["lower"], true);
  EXPECT_EQ(data["metrics"][1]["sentences"][0][0], 100.0);
  EXPECT_EQ(data["metrics"][0]["pairs"].size(), 1U);
}

TEST_F(EvaluateHtml, ThePageKnowsTheGroupsAndTheNgramsOfEachSystem) {
  const std::string page = (folder_ / "page.html").string(),
                    third = file("third", "a cat\nthe dog here\nnothing\n");
  const auto result = run({"evaluate", "--hyp", bad_, good_, third, "--ref", reference_,
                           "--metrics", "bleu", "--html", page});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto data = data_of(read_file(page));
  const auto& metric = data["metrics"][0];
  EXPECT_EQ(metric["pairs"].size(), 3U);
  EXPECT_EQ(metric["parts"][0]["kind"], "precision");
  EXPECT_EQ(metric["parts"][4]["kind"], "count");
  EXPECT_EQ(metric["parts"][4]["values"][0], 4);
  const auto& ngrams = data["ngrams"];
  const auto here = std::find_if(ngrams.begin(), ngrams.end(),
                                 [](const auto& ngram) { return ngram["text"] == "here"; });
  ASSERT_NE(here, ngrams.end());
  EXPECT_EQ((*here)["found"], (std::vector<int>{0, 1, 1}));
}

TEST_F(EvaluateHtml, ThePageReplacesNoFileButAPage) {
  const std::string notes = file("notes", "mine\n"), foreign = file("a.html", "<!doctype html>\nA");
  const auto page = [&](const std::string& name) {
    return run({"evaluate", "--hyp", good_, "--ref", reference_, "--html", name});
  };
  for (const std::string& kept : {good_, reference_, notes, foreign}) {
    const std::string before = read_file(kept);
    const auto result = page(kept);
    EXPECT_EQ(result.exit_code, 2) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("--html: " + kept + " is "));
    EXPECT_EQ(read_file(kept), before);
  }
  const std::string own = (folder_ / "own.html").string();
  for (int time = 0; time < 2; ++time) EXPECT_EQ(page(own).exit_code, 0);
  EXPECT_THAT(read_file(own), HasSubstr("the dog was here"));
}

TEST_F(EvaluateHtml, AFaultOfTheTextsLeavesNoPage) {
  const std::string page = (folder_ / "page.html").string(), two = file("two", "a\nb\n");
  const auto result = run({"evaluate", "--hyp", good_, two, "--ref", reference_, "--html", page});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr(two + " has 2 lines"));
  EXPECT_FALSE(std::filesystem::exists(page));
}

TEST_F(EvaluateHtml, ThePageIsOfWholeTextsAlone) {
  const auto result = run({"evaluate", "--hyp", good_, "--ref", reference_, "--sentence-level",
                           "--html", (folder_ / "page.html").string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--sentence-level"));
  EXPECT_EQ(result.output, "");
}

}  // namespace
}  // namespace dragoman
