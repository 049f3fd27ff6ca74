// dragoman translate, on a model whose weights nobody trained: what comes out means nothing, but
// line i of it is line i of the input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using std::string_literals::operator""s;

TEST_F(Translate, EachLineHasItsTranslationAndTheSummaryGoesToStandardError) {
  const ProcessResult result = run(words(), kInput);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], "");
  EXPECT_THAT(result.errors, AllOf(HasSubstr("6 lines"), HasSubstr("2 lines empty"),
                                   HasSubstr("1 lines with invalid UTF-8")));
}

TEST_F(Translate, FilesAndPipesAndAnyBatchSizeGiveTheSame) {
  const std::string expected = run(words(), kInput).output;
  write_file(folder_ / "in", kInput);
  const auto in = (folder_ / "in").string(), out = (folder_ / "out").string();
  const ProcessResult result = run(words({"-i", in, "-o", out, "--batch-size", "5"}));
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(read_file(out), expected);
  EXPECT_EQ(run(words({"-i", in, "-o", "/dev/stdout"})).output, expected);
}

TEST_F(Translate, AnswersAPersonAtEachLine) {
  Process process(words({"-b", "1"}));
  process.send("the cat\n");
  EXPECT_TRUE(process.wait_for_output("\n"));
  EXPECT_EQ(lines_of(process.output()).size(), 1u);
  process.send("the mat\n");
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lines_of(result.output).size(), 2u);
}

TEST_F(Translate, NBestAreWrittenWithTheirScores) {
  const auto lines =
      lines_of(run(words({"-b", "3", "--n-best", "2"}), "the cat\nthe mat\n").output);
  ASSERT_EQ(lines.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(lines[i], StartsWith(i < 2 ? "0 ||| " : "1 ||| "));
    EXPECT_THAT(lines[i], testing::ContainsRegex("[|]{3} F0= -?[0-9.]+ [|]{3} -?[0-9.]+$"));
  }
}

TEST_F(Translate, ASignalEndsItAndLeavesNoHalfFile) {
  Process process(words({"-o", folder_ / "out"}));
  process.send("the cat\n");
  EXPECT_FALSE(process.wait_for_errors("cannot", Process::Seconds(1)));
  process.send_signal(SIGTERM);
  EXPECT_TRUE(process.wait_for_errors("SIGTERM"));  // before its input ends
  EXPECT_EQ(process.wait().exit_code, 128 + SIGTERM);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

void expect_one_error(const ProcessResult& result, int code, const std::string& what) {
  EXPECT_EQ(result.exit_code, code);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, AllOf(StartsWith("dragoman: error: "), HasSubstr(what)));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
}

TEST_F(Translate, WhatIsWrongIsToldInOneLine) {
  expect_one_error(run({"translate"}), 2, "--model");
  expect_one_error(run(words({"--beam-size", "0"})), 2, "--beam-size 0");
  expect_one_error(run(words({"--beem", "3"})), 2, "--beem");
  expect_one_error(run(words({"-i", folder_ / "missing"})), 1, "missing: cannot open");
  expect_one_error(run(words({"-i", folder_.path()})), 1, "cannot read: Is a directory");
  expect_one_error(run({"translate", "-m", folder_ / "missing"}), 1, "missing");
  expect_one_error(run(words({"-o", "/dev/full"}), "the cat\n"), 1, "/dev/full: cannot write");
  expect_one_error(run(words({"-o", folder_ / "none" / "out"})), 1, "none");
}

TEST_F(Translate, ADamagedModelIsRefused) {
  const auto path = folder_ / "model.safetensors";
  const std::string whole = read_file(path);
  write_file(path, whole.substr(0, whole.size() - 40));
  expect_one_error(run(words(), "the cat\n"), 1, "model.safetensors");
  std::string flipped = whole;
  flipped[whole.size() - 40] ^= 1;
  write_file(path, flipped);
  expect_one_error(run(words(), "the cat\n"), 1, "model.safetensors");
}

TEST_F(Translate, AnyNumberOfThreadsGivesTheSameInEachArithmetic) {
  std::string input;
  for (int i = 0; i < 200; ++i) input += "the cat number " + std::to_string(i) + " sat on mat\n";
  const std::string automatic = run(words(), input).output;
  for (const std::string type : {"float32", "int8"}) {
    const std::string alone = run(words({"--compute-type", type, "--threads", "1"}), input).output;
    EXPECT_EQ(lines_of(alone).size(), 200u);
    for (const std::string threads : {"2", "5"})
      EXPECT_EQ(run(words({"--compute-type", type, "--threads", threads}), input).output, alone);
    EXPECT_TRUE(type == "int8" || alone == automatic);
  }
}

TEST_F(Translate, TakesTheSearchThatEvaluateTunedUnlessFlagsSayOtherwise) {
  write_file(folder_ / "in", "the cat sat\nmat number 7\nthe cat number 12\n");
  write_file(folder_ / "ref", "number 7 7\nthe mat\nsat sat sat\n");
  const auto in = (folder_ / "in").string(), ref = (folder_ / "ref").string();
  const std::string before = run(words({"-i", in})).output;
  const ProcessResult tuned =
      run({"evaluate", "-m", folder_.path(), "--src", in, "--ref", ref, "--tune", "--max-length",
           "6", "--metrics", "chrf", "--format", "json"});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.errors;
  const auto defaults = ModelFileReader(folder_ / "model.safetensors").decode_defaults();
  const std::string beam = defaults.at("beam-size"), penalty = defaults.at("length-penalty");
  EXPECT_THAT(tuned.errors,
              HasSubstr("translates with beam " + beam + ", length penalty " + penalty));
  const auto systems = nlohmann::json::parse(tuned.output);
  EXPECT_GT(systems.size(), 15U);
  double best = 0;
  for (const auto& system : systems) best = std::max(best, system["chrF2"]["score"].get<double>());
  for (const auto& system : systems) {
    if (system["system"] != "beam " + beam + ", length penalty " + penalty) continue;
    EXPECT_EQ(system["chrF2"]["score"], best);
  }
  const std::string with_flags =
      run(words({"-i", in, "-b", beam, "--length-penalty", penalty})).output;
  EXPECT_EQ(run(words({"-i", in})).output, with_flags);
  EXPECT_EQ(run(words({"-i", in, "-b", "5", "--length-penalty", "1"})).output, before);
}

}  // namespace
}  // namespace dragoman
