#include "extras/report/training_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "tests/names.h"

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kHostile = "</script><script>alert(1)</script><b onclick=\\\"x\\\">&amp;";

PlottedRun run_of(const std::string& name, const std::string& translations, double bleu) {
  std::string log =
      "{\"type\":\"start\",\"parameters\":1234,\"processor\":\"p\",\"precision\":\"fp32\"}\n";
  int update = 0;
  for (const char translation : translations) {
    update += 100;
    log +=
        join_text("{\"type\":\"update\",\"update\":", update, ",\"loss\":", 9.0 / update,
                  ",\"negative_log_likelihood\":", 8.0 / update,
                  ",\"gradient_norm\":1,\"learning_rate\":0.001,\"target_tokens_per_second\":5000,"
                  "\"data_wait\":0,\"target_tokens\":",
                  update * 1000, ",\"elapsed\":", update, "}\n");
    log += join_text("{\"type\":\"validation\",\"update\":", update,
                     ",\"loss\":2,\"bleu\":", bleu + update,
                     ",\"chrf\":40,\"target_tokens\":", update * 1000, ",\"elapsed\":", update,
                     ",\"samples\":[{\"source\":\"", kHostile, "\",\"translation\":\"the ",
                     translation, " cat\",\"reference\":\"the z cat\"}]}\n");
  }
  PlottedRun run{.name = name, .history = read_history(log)};
  run.history.settings = {{"lr", name}, {"seed", "1"}, {"output", name}};
  return run;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(TrainingPage, EachNumberAndAxisHasADrawing) {
  const std::string page = training_page({run_of("a", "xyz", 0), run_of("b", "xy", 5)});
  for (const char* axis : {"by-updates", "by-pieces", "by-time"})
    EXPECT_EQ(count(page, join_text("<svg class=\"", axis, "\"")), 9u);
  EXPECT_EQ(count(page, "<g class=\"run-1\">"), 27u);
}

TEST(TrainingPage, EachOfSeveralValidationTextsHasADrawing) {
  PlottedRun run = run_of("a", "x", 0);
  run.history = read_history(
      R"({"type":"validation","update":10,"loss":1,"bleu":20,"chrf":40,"mean_bleu":25,"texts":[)"
      R"({"name":"v.en","bleu":20,"chrf":40},{"name":"</w>","bleu":30,"chrf":50}]})"
      "\n");
  EXPECT_EQ(run.history.texts_with("bleu"), (std::vector<std::string>{"</w>", "v.en"}));
  const std::string page = training_page({run});
  EXPECT_THAT(page, HasSubstr("<figcaption>BLEU of v.en</figcaption>"));
  EXPECT_THAT(page, HasSubstr("<figcaption>BLEU of &lt;/w&gt;</figcaption>"));
  EXPECT_THAT(page, HasSubstr("<figcaption>Mean BLEU"));
  EXPECT_THAT(page, HasSubstr("data-name=\"bleu of v.en\""));
  EXPECT_THAT(page, HasSubstr("\"bleu of v.en\":[20]"));
  EXPECT_THAT(page, Not(HasSubstr("bleu of </w>")));
}

TEST(TrainingPage, EachOfSeveralTrainingFilesHasADrawingOfItsLoss) {
  PlottedRun run = run_of("a", "x", 0);
  run.history =
      read_history(R"({"type":"validation","update":10,"loss":1,"bleu":20,"chrf":40,"corpora":[)"
                   R"({"name":"t.en","loss":1.5},{"name":"</w>","loss":2}]})"
                   "\n");
  const std::string page = training_page({run});
  EXPECT_THAT(page, HasSubstr("<figcaption>Nll of training pairs <small>of t.en, without"));
  EXPECT_THAT(page, HasSubstr("<small>of &lt;/w&gt;, without"));
  EXPECT_THAT(page, HasSubstr("\"loss of t.en\":[1.5]"));
}

TEST(TrainingPage, ThePageSaysWhyThereIsNoAttention) {
  EXPECT_THAT(training_page({run_of("a", "xy", 0)}),
              HasSubstr("a: no picture of how alignment comes about"));
  PlottedRun with = run_of("a", "xy", 0);
  with.history.validations.back().attention = {.source = {"x"}, .target = {"y"}, .weights = {1}};
  EXPECT_THAT(training_page({with}), Not(HasSubstr("no picture of how")));
}

TEST(TrainingPage, TheScoresComeFirstAndTheLossBesideThePlainNegativeLogLikelihood) {
  const std::string page = training_page({run_of("a", "xyz", 0)});
  const auto title = [&](const char* text) { return page.find(join_text("<figcaption>", text)); };
  EXPECT_LT(title("Training loss</fig"), title("Training nll <small>"));
  EXPECT_NE(title("Training nll <small>"), std::string::npos);
  EXPECT_LT(title("BLEU of the validation text"), title("Validation nll <small>"));
  EXPECT_LT(title("Validation nll <small>"), title("Training loss</fig"));
  EXPECT_THAT(page, HasSubstr("data-name=\"negative_log_likelihood\""));
}

TEST(TrainingPage, TheLossNamesTheObjectiveOfEachRun) {
  auto smooth = run_of("a", "xyz", 0), plain = run_of("b", "xyz", 0);
  smooth.history.settings["label-smoothing"] = "0.1";
  EXPECT_THAT(training_page({smooth}),
              HasSubstr("Training loss <small>label smoothing 0.1</small>"));
  plain.history.settings["label-smoothing"] = "0";
  EXPECT_THAT(training_page({smooth, plain}),
              Names("a: label smoothing 0.1 ... b: no label smoothing"));
}

TEST(TrainingPage, TheAttentionOfEachValidationIsThere) {
  EXPECT_THAT(training_page({run_of("a", "xy", 0)}), Not(HasSubstr("class=\"run-0 alignment")));
  const auto line = [](int update, const char* weights) {
    return join_text("{\"type\":\"validation\",\"update\":", update,
                     ",\"loss\":2,\"attention\":{\"source\":[\"<b>\",\"</s>\"],\"target\":[\"c\"],"
                     "\"weights\":[",
                     weights, "]}}\n");
  };
  const std::string page =
      training_page({{.name = "a",
                      .history = read_history(line(10, "[0.5,0.5]") + line(20, "[0.25,0.75]") +
                                              line(30, "[1]"))}});
  EXPECT_THAT(page, HasSubstr("{\"updates\":[10,20],\"weights\":[[500,500],[250,750]]}"));
  EXPECT_THAT(page, HasSubstr("c to &lt;b&gt; 0.2500</title>"));
  EXPECT_THAT(page, HasSubstr("max=\"1\" value=\"1\""));
}

TEST(TrainingPage, AScreenReaderTellsTheAttentionOfTwoRunsApart) {
  const char* line =
      R"({"type":"validation","update":10,"attention":{"source":["a"],"target":["x"],"weights":[[1]]}})";
  const std::string page = training_page({{.name = "first", .history = read_history(line)},
                                          {.name = "second", .history = read_history(line)}});
  for (const char* name : {"first", "second"}) {
    EXPECT_EQ(count(page, join_text("aria-label=\"Attention of ", name, '"')), 1u);
    EXPECT_EQ(count(page, join_text("aria-label=\"update of ", name, '"')), 1u);
  }
}

TEST(TrainingPage, RowsOfAttentionSumToOne) {
  const std::string page = training_page(
      {{.name = "a",
        .history = read_history("{\"type\":\"validation\",\"update\":10,\"attention\":{"
                                "\"source\":[\"a\",\"b\",\"c\"],\"target\":[\"x\",\"y\"],"
                                "\"weights\":[[0.166,0.166,0.665],[0.335,0.334,0.333]]}}\n")}});
  EXPECT_THAT(page, HasSubstr("\"weights\":[[166,166,668,333,334,333]]"));
  EXPECT_THAT(page, HasSubstr("x to c 0.6680</title>"));
}

TEST(TrainingPage, ALinkLeadsToThePageThatExplainsTheSentence) {
  PlottedRun run = run_of("a", "x", 0);
  run.history.validations.back().attention = {.source = {"x"}, .target = {"y"}, .weights = {1}};
  EXPECT_THAT(training_page({run}), Not(HasSubstr("<a href")));
  run.explanation = "\"a\".explanations/1-1.html";
  EXPECT_THAT(training_page({run}),
              HasSubstr("<a href=\"&quot;a&quot;.explanations/1-1.html\">All heads of the"));
}

TEST(TrainingPage, AttentionOfManyValidationsIsThinned) {
  std::string log;
  for (int update = 1; update <= 100; ++update)
    log += join_text("{\"type\":\"validation\",\"update\":", update,
                     ",\"attention\":{\"source\":[\"a\"],\"target\":[\"b\"],\"weights\":[[1]]}}\n");
  const std::string page = training_page({{.name = "a", .history = read_history(log)}});
  EXPECT_THAT(page, HasSubstr("{\"updates\":[1,2,"));
  EXPECT_THAT(page, HasSubstr(",100],"));
  EXPECT_THAT(page, HasSubstr("max=\"59\""));
}

TEST(TrainingPage, ARunWithoutALineOfItsUpdatesSaysWhyThereIsNoCurve) {
  auto run = run_of("a", "xyz", 0);
  EXPECT_THAT(training_page({run}), Not(HasSubstr("no training curve")));
  run.history.updates.clear();
  run.history.settings["log-every"] = "1000";
  EXPECT_THAT(training_page({run}),
              Names("a: no training curve ... 1000 updates ... --log-every ... 300"));
}

TEST(TrainingPage, TheBestOfEqualScoresIsTheOneThatTheRunHasChosen) {
  const char* log =
      "{\"type\":\"validation\",\"update\":10,\"bleu\":0,\"chrf\":3,\"loss\":5,\"best\":true}\n"
      "{\"type\":\"validation\",\"update\":20,\"bleu\":0,\"chrf\":3,\"loss\":4,\"best\":true}\n"
      "{\"type\":\"validation\",\"update\":30,\"bleu\":0,\"chrf\":3,\"loss\":4.5,\"best\":false}\n"
      "{\"type\":\"validation\",\"update\":40,\"bleu\":9,\"chrf\":3,\"loss\":3,\"best\":false}\n";
  PlottedRun run{.name = "a", .history = read_history(log)};
  const auto best = [&](const char* title) {
    const std::string page = training_page({run});
    const std::size_t at = page.find("<small>", page.find(title));
    return page.substr(at + 7, page.find('<', at + 7) - at - 7);
  };
  EXPECT_EQ(best("Best BLEU"), "update 40");  // it is not known by what the run chose
  EXPECT_EQ(best("Best chrF"), "update 40");  // the lowest loss among equal scores
  run.history.settings["best-metric"] = "bleu";
  EXPECT_EQ(best("Best BLEU"), "update 20");  // as update 40 lost text that was to be kept
  EXPECT_EQ(best("Best chrF"), "update 40");
}

TEST(TrainingPage, SeveralRunsHaveShortNames) {
  const std::string page = training_page({run_of("x/runs/a", "x", 0), run_of("x/runs/b", "x", 0)});
  EXPECT_THAT(page, HasSubstr("<title>Training: a, b</title>"));
}

TEST(TrainingPage, TextOfARunIsShownAsText) {
  auto run = run_of("<i>&\"name", "xy", 0);
  run.history.settings["lr"] = "<u>";
  const std::string page = training_page({run});
  EXPECT_EQ(run.history.damaged_lines, 0u);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
  EXPECT_THAT(page, Not(HasSubstr("<u>")));
  EXPECT_THAT(page, Not(HasSubstr("<b onclick")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
  EXPECT_THAT(page, HasSubstr("&amp;amp;"));
  run.history.updates.clear();  // so that a note names the setting
  run.history.settings["log-every"] = "<script>alert(1)</script>";
  EXPECT_THAT(training_page({run}), HasSubstr("every &lt;script&gt;alert(1)&lt;/script&gt; upd"));
  EXPECT_THAT(training_page({run}), Not(HasSubstr("<script>alert(1)")));
}

TEST(TrainingPage, ThePageFetchesNothing) {
  const std::string page = training_page({run_of("a", "xy", 0)});
  for (const char* reference : {" src=", " href=", "url(", "@import", "fetch("})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
}

TEST(TrainingPage, EqualTranslationsInARowAreShownOnceAndNewWordsAreMarked) {
  const std::string page = training_page({run_of("a", "xxyz", 0)});
  EXPECT_THAT(page, HasSubstr("<span>100–200</span><p dir=\"auto\">the x cat</p>"));
  EXPECT_THAT(page, HasSubstr("<span>300</span><p dir=\"auto\">the <mark>y</mark> cat</p>"));
  EXPECT_THAT(page, HasSubstr("<li class=\"exact\"><span>400</span>"));
  EXPECT_EQ(count(page, "<li"), 3u);
  EXPECT_THAT(training_page({run_of("a", "abcdefghij", 0)}), HasSubstr("4 earlier versions"));
}

TEST(TrainingPage, TheBestOfEachRunAndOfAllStandsInTheSummary) {
  const std::string page = training_page({run_of("a", "xyz", 0), run_of("b", "xy", 5)});
  EXPECT_THAT(
      page, HasSubstr("<td class=\"run-0 best\">300.00<small>update 300, after 5:00</small></td>"));
  EXPECT_THAT(page,
              HasSubstr("<td class=\"run-1\">205.00<small>update 200, after 3:20</small></td>"));
  EXPECT_THAT(page, HasSubstr("1,234"));
  EXPECT_THAT(page, Not(HasSubstr("Rolled back")));
  auto run = run_of("a", "xyz", 0);
  run.history.rollbacks = 2;
  EXPECT_THAT(training_page({run}), HasSubstr("Rolled back</th><td class=\"run-0\">2</td>"));
}

TEST(TrainingPage, SettingsThatDifferStandApart) {
  const std::string page = training_page({run_of("a", "x", 0), run_of("b", "x", 0)});
  const std::size_t differences = page.find("<h3>Differences"), all = page.find("All settings");
  ASSERT_LT(differences, all);
  const std::string part = page.substr(differences, all - differences);
  EXPECT_THAT(part, HasSubstr(">lr<"));
  EXPECT_THAT(part, Not(HasSubstr(">seed<")));
  EXPECT_THAT(part, Not(HasSubstr(">output<")));
  EXPECT_THAT(training_page({run_of("a", "x", 0)}), Not(HasSubstr("<h3>Differences")));
}

TEST(TrainingPage, ValidationsTimesAndSettingsMayBeMissing) {
  const PlottedRun old{.name = "old",
                       .history = read_history("{\"type\":\"update\",\"update\":5,\"loss\":3}\n")};
  const std::string page = training_page({old});
  EXPECT_EQ(count(page, "<figure"), 1u);
  EXPECT_THAT(page, Not(HasSubstr("id=\"by-time\"")));
  const std::string both = training_page({old, run_of("new", "xy", 0)});
  EXPECT_THAT(both, HasSubstr("id=\"by-time\""));
}

PlottedRun run_with(const char* name, std::map<std::string, std::string> settings) {
  PlottedRun run{.name = name, .history = {}};
  run.history.settings = std::move(settings);
  return run;
}

TEST(TrainingObjective, TheObjectiveFollowsFromTheSettings) {
  const auto told = [](std::map<std::string, std::string> settings) {
    return training_objective(run_with("a", std::move(settings)).history);
  };
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told({{"label-smoothing", "0.1"}}), "label smoothing 0.1");
  EXPECT_EQ(told({{"label-smoothing", "0"}}), "no label smoothing, so the same as nll");
  EXPECT_EQ(told({{"label-smoothing", "0.1"}, {"guided-alignment", "links"}}),
            "label smoothing 0.1, without the alignment loss");
}

TEST(TrainingObjective, TheObjectiveOfEachOfSeveralRunsIsNamedIfItDiffers) {
  const auto smooth = run_with("a", {{"label-smoothing", "0.1"}}),
             plain = run_with("b", {{"label-smoothing", "0"}}),
             like_the_first = run_with("c", {{"label-smoothing", "0.1"}}), old = run_with("d", {});
  EXPECT_EQ(training_objectives({smooth, like_the_first}), "label smoothing 0.1");
  EXPECT_EQ(training_objectives({smooth, plain, like_the_first, old}),
            "not to be compared; a, c: label smoothing 0.1; b: no label smoothing, so the same as "
            "nll; d: settings not known");
}

using Runs = std::vector<WordRun>;

TEST(WordChanges, WordsThatTheTextBeforeLacksAreMarked) {
  EXPECT_EQ(word_changes("the old man sings", "the young man sings well"),
            (Runs{{"the ", false}, {"young ", true}, {"man sings ", false}, {"well", true}}));
  EXPECT_EQ(word_changes("a b", "a b"), (Runs{{"a b", false}}));
  EXPECT_EQ(word_changes("", "a b"), (Runs{{"a b", true}}));
  EXPECT_EQ(word_changes("a b", ""), Runs{});
}

TEST(WordChanges, ACharacterOfHanOrKanaIsAWord) {
  EXPECT_EQ(word_changes("私は猫だ", "私は犬だ"),
            (Runs{{"私は", false}, {"犬", true}, {"だ", false}}));
}

TEST(WordChanges, ACharacterOfThaiIsAWordWithItsMarks) {
  EXPECT_EQ(word_changes("ฉันรู้", "ฉันรู"), (Runs{{"ฉัน", false}, {"รู", true}}));
}

/// The longest common subsequence by trying all subsequences of `a`.
std::size_t longest_common(const std::vector<int>& a, const std::vector<int>& b) {
  std::size_t longest = 0;
  for (unsigned chosen = 0; chosen < 1u << a.size(); ++chosen) {
    std::vector<int> part;
    for (std::size_t i = 0; i < a.size(); ++i)
      if ((chosen >> i & 1) != 0) part.push_back(a[i]);
    auto at = b.begin();
    for (const int& word : part) {
      at = std::find(at, b.end(), word);
      if (at == b.end()) break;
      ++at;
      if (&word == &part.back()) longest = std::max(longest, part.size());
    }
  }
  return longest;
}

TEST(WordChanges, AsManyWordsAsPossibleAreKept) {
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    RandomStream random(5, trial);
    const auto draw = [&random](std::string& text) {
      std::vector<int> words(random.below(9));
      for (int& word : words) {
        word = static_cast<int>(random.below(3));
        text += static_cast<char>('a' + word);
        text += ' ';
      }
      return words;
    };
    std::string before, now, joined;
    const auto a = draw(before), b = draw(now);
    std::size_t kept = 0;
    for (const WordRun& run : word_changes(before, now)) {
      joined += run.text;
      if (!run.changed) kept += run.text.size() / 2;
    }
    EXPECT_EQ(joined, now);
    EXPECT_EQ(kept, longest_common(a, b)) << before << "/ " << now;
  }
}

}  // namespace

}  // namespace dragoman
