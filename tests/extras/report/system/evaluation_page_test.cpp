// evaluate --html writes a page beside the scores; --explain writes pages about sentences beside
// it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "tests/names.h"
#include "tests/system/process.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {

namespace {

using testing::HasSubstr;

/// The data of a page.
nlohmann::json data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return parse_json(html.substr(begin, html.find("</script>", begin) - begin));
}

using EvaluateHtml = ScoredFiles;

TEST_F(EvaluateHtml, SystemsAreComparedOnAPageOfTheirSentences) {
  const std::string page = (folder_ / "page.html").string();
  const auto result =
      run({"evaluate", "--hyp", bad_, good_, "--ref", reference_, "--src", reference_, "--metrics",
           "chrf", "ter", "--paired-ar", "--format", "json", "--html", page});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto list = parse_json(result.output);
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

TEST_F(EvaluateHtml, AClosedPipeCostsNoPage) {
  const std::string page = (folder_ / "page.html").string();
  Process process(
      CommandWords{{"sh", "-c", R"({ sleep 1; "$@"; } | true)", "sh", kProgram, "evaluate", "--hyp",
                    bad_, good_, "--ref", reference_, "--metrics", "chrf", "--html", page}});
  process.wait();
  EXPECT_TRUE(std::filesystem::exists(page));
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
    EXPECT_THAT(result.errors, HasSubstr("--html: " + kept + " "));
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

class EvaluateExplain : public Translate {
 protected:
  EvaluateExplain() {
    write_file(source_, "the cat sat\nmat number 7\nthe mat\n");
    // The model says nothing sensible, so the first reference is its own translation.
    const std::string own = run(words({"-i", source_})).output;
    write_file(reference_, own.substr(0, own.find('\n')) + "\nx\ny\n");
  }

  auto evaluate(const std::vector<std::string>& more, const std::string& loud = "--quiet") const {
    std::vector<std::string> all = {"evaluate", "--src",        source_, "--ref",
                                    reference_, "--metrics",    "chrf",  "--force",
                                    loud,       "--max-length", "6"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }

  const std::string source_ = folder_ / "in.txt", reference_ = folder_ / "ref.txt";
};

TEST_F(EvaluateExplain, TheWorstSentencesHavePages) {
  const std::string page = folder_ / "scores.html", model = folder_ / "model.safetensors";
  const auto result = evaluate({"-m", model, "--html", page, "--explain", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::filesystem::path pages = folder_ / "scores.explanations";
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(pages))
    names.push_back(file.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("1-2.html", "1-3.html"));
  EXPECT_THAT(read_file(pages / "1-2.html"), HasSubstr("\"source\":\"mat number 7\""));
  const std::string html = read_file(page);
  EXPECT_THAT(html,
              HasSubstr("{\"system\":0,\"line\":1,\"page\":\"scores.explanations/1-2.html\"}"));
  EXPECT_THAT(html, HasSubstr("\"model\":true"));
}

TEST_F(EvaluateExplain, TheSentencesThatThePageShowsFirstAreExplained) {
  // By BLEU both lines score 0; by chrF, which orders the page, the second is the worse.
  write_file(source_, "the cat sat\nmat number 7\n");
  const std::string own = run(words({"-i", source_})).output;
  write_file(reference_, own.substr(0, own.find('\n')) + "x\n#\n");
  const std::string page = folder_ / "scores.html", model = folder_ / "model.safetensors";
  const auto result = run({"evaluate", "-m", model, "--src", source_, "--ref", reference_,
                           "--max-length", "6", "--html", page, "--explain", "1", "--force"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "scores.explanations/1-2.html"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "scores.explanations/1-1.html"));
}

TEST_F(EvaluateExplain, ACurveJoinsTheCheckpointsOfOneRunAlone) {
  const auto write = [&](const std::string& name, std::int64_t updates, const char* settings) {
    SmallModel model(Tokenizer(tokenizer_, "tokenizer").size());
    model.contents.tokenizer_source = tokenizer_;
    model.contents.provenance.updates = updates;
    model.contents.provenance.configuration = settings;
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    write_model_file(folder_ / name, model.contents);
    return (folder_ / name).string();
  };
  const std::string page = folder_ / "scores.html";
  const auto curves = [&](std::vector<std::string> models) {
    models.insert(models.begin(), "-m");
    models.insert(models.end(), {"--html", page});
    EXPECT_EQ(evaluate(models).exit_code, 0);
    const std::string html = read_file(page);
    std::vector<std::string> titles;
    for (std::size_t at = 0; (at = html.find("<figcaption>chrF2 by updates", at)) != html.npos;
         ++at)
      titles.push_back(html.substr(at + 12, html.find('<', at + 12) - at - 12));
    return titles;
  };
  const auto early = write("one/checkpoints/update-00000010.safetensors", 10, "seed = 1"),
             late = write("one/model.safetensors", 20, "seed = 1\nmax-updates = 20"),
             other = write("two/model.safetensors", 30, "seed = 1"),
             its_early = write("two/checkpoints/update-00000005.safetensors", 5, "seed = 1"),
             loose = write("a.safetensors", 10, "lr = 1"),
             another = write("b.safetensors", 20, "lr = 2"),
             of_one = write("c.safetensors", 30, "lr = 2");
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(curves({early, late}), ElementsAre("chrF2 by updates"));
  EXPECT_THAT(curves({late, other}), IsEmpty());
  EXPECT_THAT(curves({early, late, other}), ElementsAre("chrF2 by updates"));
  EXPECT_THAT(curves({early, late, other, its_early}),
              ElementsAre("chrF2 by updates, one", "chrF2 by updates, two"));
  EXPECT_THAT(curves({loose, another}), IsEmpty());
  EXPECT_THAT(curves({another, of_one}), ElementsAre("chrF2 by updates"));
}

TEST_F(EvaluateExplain, ThePageKnowsTheFlagsThatMakeItsTranslations) {
  const std::string page = folder_ / "scores.html", model = folder_ / "model.safetensors";
  const auto page_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"-m", model, "--html", page});
    const auto result = evaluate(more);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return read_file(page);
  };
  EXPECT_THAT(
      page_of({"--beam-size", "1", "--length-penalty", "0.6", "--split-sentences", "never"}),
      HasSubstr(R"("search":"--beam-size 1 --length-penalty 0.6 --max-length 6")"));
  EXPECT_THAT(page_of({"--sampling"}), HasSubstr("\"search\":null"));
}

TEST_F(EvaluateExplain, WrittenPagesAreNamedAndThoseOfAnEarlierCallRemoved) {
  const std::string page = folder_ / "scores.html", model = folder_ / "model.safetensors";
  const std::filesystem::path pages = folder_ / "scores.explanations";
  ASSERT_EQ(evaluate({"-m", model, "--html", page, "--explain", "3"}).exit_code, 0);
  write_file(pages / "mine.html", "a reader's own");
  write_file(pages / "1-x.html", "a reader's own");
  write_file(pages / "2-9.html", "a reader's own");
  ASSERT_TRUE(std::filesystem::exists(pages / "1-1.html"));
  const auto result = evaluate({"-m", model, "--html", page, "--explain", "1"}, "--force");
  EXPECT_THAT(result.errors, Names("scores.html ... 1 system ... 3 sentences ... 1 page"));
  EXPECT_FALSE(std::filesystem::exists(pages / "1-1.html"));
  EXPECT_TRUE(std::filesystem::exists(pages / "mine.html"));
  EXPECT_TRUE(std::filesystem::exists(pages / "1-x.html"));
  EXPECT_TRUE(std::filesystem::exists(pages / "2-9.html"));
  const auto count = std::distance(std::filesystem::directory_iterator(pages), {});
  EXPECT_EQ(count, 4);
}

TEST_F(EvaluateExplain, ExplanationsNeedAPageAndAModel) {
  const std::string page = folder_ / "scores.html", model = folder_ / "model.safetensors";
  const auto expect_refusal = [&](const std::vector<std::string>& more, const std::string& text) {
    expect_failure(evaluate(more), 2, text);
  };
  expect_refusal({"-m", model, "--explain", "2"}, "--explain: needs --html");
  expect_refusal({"-m", model, "--html", page, "--explain", "101"}, "--explain ... 101 ... 100");
  expect_refusal({"-m", model, "--html", page, "--explain", "-1"}, "--explain ... -1");
  expect_refusal({"-m", model, "--html", "/dev/null", "--explain", "1"}, "--html ... file");
}

}  // namespace

}  // namespace dragoman
