// dragoman evaluate scores files; with --tune it chooses the search that translate takes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "tests/names.h"
#include "tests/system/process.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;

using Evaluate = ScoredFiles;

TEST_F(Evaluate, SystemsAreCompared) {
  const auto result = run({"evaluate", "--hyp", bad_, good_, "--ref", reference_, "--metrics",
                           "chrf", "ter", "--paired-ar", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto list = parse_json(result.output);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["system"], bad_);
  EXPECT_GT(list[1]["chrF2"]["score"], list[0]["chrF2"]["score"]);
  EXPECT_LT(list[1]["TER"]["score"], list[0]["TER"]["score"]);
  EXPECT_TRUE(list[1]["TER"]["p_value"].is_number());
}

TEST_F(Evaluate, SomeOfSeveralReferencesMayBeMissing) {
  const std::string second = file("second", "a cat sat down\n\nnone\n");
  const auto score = [&](const std::string& hypothesis) {
    const auto result = run({"evaluate", "--hyp", hypothesis, "--ref", reference_, second,
                             "--metrics", "ter", "--format", "json"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return parse_json(result.output)[0];
  };
  EXPECT_EQ(score(reference_)["score"], 0);
  EXPECT_EQ(score(good_)["nrefs"], "var");
  // One edit; mean lengths of 3.5, 4 and 1 words.
  EXPECT_NEAR(score(good_)["score"].get<double>(), 100 / 8.5, 0.006);
}

TEST_F(Evaluate, TestSetsComeWithoutReferencesAndPages) {
  const std::string set = file("set.tsv", "a cat\teine Katze\n");
  const auto errors = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"evaluate", "--test", set});
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 2) << result.errors;
    return result.errors;
  };
  EXPECT_THAT(errors({"--hyp", good_}), Names("--test ... -m ... --hyp"));
  EXPECT_THAT(errors({"-m", "run", "--ref", reference_}), Names("--test ... --src ... --ref"));
  EXPECT_THAT(errors({"-m", "run", "--tune"}), HasSubstr("--tune: "));
  EXPECT_THAT(errors({"-m", "run", "--sentence-level"}), HasSubstr("--test: "));
}

TEST_F(Evaluate, OnlyBleuNeedsATokenizer) {
  const auto code = [this](const std::string& metric) {
    return run({"evaluate", "--hyp", good_, "--ref", reference_, "--metrics", metric, "--tokenize",
                "spm", "--spm-model", (folder_ / "none").string()})
        .exit_code;
  };
  EXPECT_EQ(code("bleu"), 1);
  EXPECT_EQ(code("chrf"), 2) << "the flags would have no effect";
}

TEST_F(Evaluate, TextThatLooksTokenizedIsWarnedAbout) {
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += "a cat sat .\n";
  const std::string tokenized = file("tokenized", lines);
  const auto errors = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate", "--hyp", tokenized, "--ref", tokenized};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).errors;
  };
  EXPECT_THAT(errors({}), HasSubstr("is it tokenized?"));
  EXPECT_EQ(errors({"--force"}), "");
}

TEST_F(Evaluate, TextThatIsEmptyOrTheSourceItselfIsWarnedAbout) {
  const auto errors = [&](const std::string& hypothesis, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate", "--hyp", hypothesis, "--ref",
                                      reference_, "--src", good_};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).errors;
  };
  EXPECT_THAT(errors(bad_, {}), Names(bad_ + " ... 1 of 3 ... empty"));
  EXPECT_THAT(errors(good_, {}), Names(good_ + " ... 3 of 3 ... --src"));
  EXPECT_EQ(errors(reference_, {}), "");
  for (const std::string& warned : {bad_, good_}) EXPECT_EQ(errors(warned, {"--force"}), "");
}

TEST_F(Evaluate, TextWithoutCapitalsIsWarnedAboutIfReferencesHaveThem) {
  const std::string capitals = file("capitals", "A cat sat\nThe dog is here\nNothing\n");
  const auto errors = [&](const std::string& reference, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate", "--hyp", good_, "--ref", reference};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).errors;
  };
  EXPECT_THAT(errors(capitals, {}), Names(good_ + " ... capitals ... --lowercase"));
  EXPECT_EQ(errors(reference_, {}), "");
  for (const char* flag : {"--lowercase", "--force"}) EXPECT_EQ(errors(capitals, {flag}), "");
  for (const std::string& text : {file("empty", "\n\n\n"), file("digits", "1\n2\n3\n")})
    EXPECT_THAT(run({"evaluate", "--hyp", text, "--ref", capitals}).errors,
                Not(HasSubstr("capitals")));
  EXPECT_THAT(run({"evaluate", "--hyp", "-", "--ref", capitals}, read_file(good_)).errors,
              Names("standard input: has no capitals"));
}

TEST_F(Evaluate, MetricsMayBeNamedAsScoresAre) {
  const auto output = [this](const std::vector<std::string>& metrics) {
    std::vector<std::string> words = {"evaluate", "--hyp", good_, "--ref", reference_, "--metrics"};
    words.insert(words.end(), metrics.begin(), metrics.end());
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return result.output;
  };
  EXPECT_EQ(output({"BLEU,chrF"}), output({"bleu", "chrf"}));
}

TEST_F(Evaluate, FlagsOfTheSearchNeedAModel) {
  const auto errors = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"evaluate", "--hyp", good_, "--ref", reference_};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 2);
    return result.errors;
  };
  EXPECT_THAT(errors({"-b", "3"}), Names("--beam-size ... model"));
  EXPECT_THAT(errors({"--compute-type", "int8"}), Names("--compute-type ... model"));
  EXPECT_THAT(errors({"--device", "cpu"}), Names("--device ... model"));
  EXPECT_THAT(errors({"--lenpen", "2"}), Names("--lenpen ... --length-penalty"));
  EXPECT_THAT(errors({"-m", "bleu"}), Names("--metrics bleu"));
}

TEST_F(Evaluate, FlagsOfTestSetsNeedOne) {
  for (const auto& [flag, value] :
       {std::pair<std::string, std::string>("--columns", "1"), {"--source-language", "en"}}) {
    expect_failure(run({"evaluate", "--hyp", good_, "--ref", reference_, flag, value}), 2,
                   flag + " ... --test");
  }
}

// sacreBLEU 2.6.0: the bigrams, trigrams and words of a line without a reference count, its
// characters do not.
TEST_F(Evaluate, AnEmptyReferenceCountsAsOneOfNoWordsAndIsNamed) {
  const std::string gap = file("gap", "a cat sat\n\nnothing\n");
  const auto scores = [&](std::vector<std::string> references) {
    references.insert(references.begin(), {"evaluate", "--hyp", good_, "--metrics", "bleu", "chrf",
                                           "ter", "--format", "json", "--ref"});
    return run(references);
  };
  for (const auto& references : {std::vector{gap}, std::vector{gap, gap}}) {
    const auto result = scores(references);
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_THAT(result.errors, Names(gap + " ... 1 empty line ... line 2"));
    const auto list = parse_json(result.output);
    EXPECT_EQ(list[0]["verbose_score"],
              "50.0/40.0/33.3/50.0 (BP = 1.000 ratio = 2.000 hyp_len = 8 ref_len = 4)");
    EXPECT_EQ(list[1]["score"], 100.0);
    EXPECT_EQ(list[2]["score"], 100.0);
  }
  EXPECT_THAT(scores({gap, "--force"}).errors, Not(HasSubstr("empty")));
}

TEST_F(Evaluate, AnErrorNamesTheWrongFileAndItsFault) {
  const auto expect = [this](const std::vector<std::string>& words, int code,
                             const std::string& message) {
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, code) << result.errors;
    EXPECT_THAT(result.errors, Names(message));
    EXPECT_EQ(result.output, "");
  };
  const std::string two = file("two", "a\nb\n"), odd = file("odd", "a\n\xFF\nc\n"),
                    empty = file("empty", "");
  expect({"evaluate", "--hyp", good_, two, "--ref", reference_}, 1,
         good_ + " ... 3 lines ... " + two + " ... 2 lines");
  expect({"evaluate", "--hyp", good_, "--ref", reference_, two}, 1,
         good_ + " ... 3 lines ... " + two + " ... 2 lines");
  expect({"evaluate", "--hyp", odd, "--ref", reference_}, 1, odd + ":2: invalid UTF-8");
  expect({"evaluate", "--hyp", empty, "--ref", empty}, 1, empty + " ... no lines");
  const std::string none = (folder_ / "none").string();
  expect({"evaluate", "--hyp", good_, "--ref", none}, 1, none);
  expect({"evaluate", "--hyp", good_, "--ref", reference_, "--tokenize", "spm"}, 2, "--spm-model");
  expect({"evaluate", "--hyp", good_, "--ref", reference_, "--tokenize", "spm", "--spm-model", odd},
         1, odd);
  expect({"evaluate", "--hyp", good_, "--ref", reference_, "--tune"}, 2, "--tune ... one model");
  expect({"evaluate", "--hyp", good_, good_, "--ref", reference_}, 2, "named twice");
  expect({"evaluate", "--hyp", good_, "--ref", reference_, "--paired-bs"}, 2,
         "--paired-bs ... --paired-bootstrap ... two or more");
  expect({"evaluate", "-m", "run/", "--ref", reference_}, 2, "--src ... text");
  expect({"evaluate", "--ref", reference_}, 2, "score");
}

class EvaluateTestSets : public Translate {};

TEST_F(EvaluateTestSets, EachHasScoresAndTheMeanIsShown) {
  std::vector<std::string> words = {"evaluate", "-m", (folder_ / "model.safetensors").string(),
                                    "--test"};
  for (const char* name : {"a.tsv", "b.tsv"}) {
    words.push_back((folder_ / name).string());
    write_file(words.back(), join_text("the cat number 7\tthe cat sat on ", name, "\nno pair\n"));
  }
  words.insert(words.end(), {"--metrics", "chrf", "--format", "json"});
  const auto result = run(words);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, Names("a.tsv ... 1 pair ... 1 left out"));
  const auto list = parse_json(result.output);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[1]["system"], words[5]);
  EXPECT_EQ(list[2]["system"], "mean");
  const auto score = [&list](std::size_t row) { return list[row]["chrF2"]["score"].get<double>(); };
  EXPECT_NEAR(score(2), (score(0) + score(1)) / 2, 0.051);
}

class EvaluateTune : public Translate {};

TEST_F(EvaluateTune, AModelThatCannotBeWrittenIsRefusedBeforeTheWork) {
  // The name is too long for a file beside it to have one, which stops root, too.
  const auto model = folder_ / (std::string(240, 'm') + ".safetensors");
  std::filesystem::copy_file(folder_ / "model.safetensors", model);
  write_file(folder_ / "text", "the cat\n");
  const std::string text = folder_ / "text";
  const ProcessResult result =
      run({"evaluate", "-m", model, "--src", text, "--ref", text, "--tune"});
  expect_one_error(result, 1, "cannot write");
}

TEST_F(EvaluateTune, AModelThatIsInTrainingIsNotTuned) {
  std::filesystem::create_directory(folder_ / "checkpoints");
  write_file(folder_ / "text", "the cat\n");
  const std::string text = folder_ / "text";
  const FolderLock training(folder_.path(), "");
  const ProcessResult result =
      run({"evaluate", "-m", folder_.path(), "--src", text, "--ref", text, "--tune"});
  expect_one_error(result, 1, "training is running");
}

TEST_F(EvaluateTune, TranslateTakesTheTunedSearchUnlessFlagsSayOtherwise) {
  write_file(folder_ / "in", "the cat sat\nmat number 7\nthe cat number 12\n");
  write_file(folder_ / "ref", "number 7 7\nthe mat\nsat sat sat\n");
  const auto in = (folder_ / "in").string(), ref = (folder_ / "ref").string();
  const std::string before = run(words({"-i", in})).output;
  write_decode_defaults(folder_ / "model.safetensors", {{"word-penalty", "0.5"}});
  const ProcessResult tuned =
      run({"evaluate", "-m", folder_.path(), "--src", in, "--ref", ref, "--tune", "--max-length",
           "6", "--metrics", "chrf", "--format", "json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.errors;
  const auto defaults = ModelFileReader(folder_ / "model.safetensors").decode_defaults();
  EXPECT_EQ(defaults.at("word-penalty"), "0.5") << "what is not tuned stays";
  EXPECT_EQ(defaults.at("max-length"), "6") << "it was given";
  EXPECT_FALSE(defaults.contains("min-length"));
  const std::string beam = defaults.at("beam-size"), penalty = defaults.at("length-penalty");
  EXPECT_THAT(tuned.errors, Names("--tune ... 3 lines"));
  EXPECT_THAT(tuned.errors, testing::Not(HasSubstr(": chrF2 "))) << "the table has the scores";
  EXPECT_THAT(tuned.errors,
              HasSubstr("translates with beam " + beam + ", length penalty " + penalty));
  const auto systems = parse_json(tuned.output);
  EXPECT_GT(systems.size(), 15U);
  double best = 0;
  for (const auto& system : systems) best = std::max(best, system["chrF2"]["score"].get<double>());
  int chosen = 0;
  for (const auto& system : systems) {
    if (system["system"] != "beam " + beam + ", length penalty " + penalty) continue;
    EXPECT_EQ(system["chrF2"]["score"], best);
    ++chosen;
  }
  EXPECT_EQ(chosen, 1);
  const std::string with_flags =
      run(words({"-i", in, "-b", beam, "--length-penalty", penalty})).output;
  EXPECT_EQ(run(words({"-i", in})).output, with_flags);
  EXPECT_EQ(
      run(words({"-i", in, "-b", "5", "--length-penalty", "1", "--word-penalty", "0"})).output,
      before);
}

}  // namespace

}  // namespace dragoman
