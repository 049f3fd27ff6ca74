// The log and the event files of a training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/utf8.h"
#include "tests/log_entries.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;
using TrainLog = Train;

TEST_F(TrainLog, ALongSampleIsCutOnTheScreenAndWholeInTheLog) {
  std::string source, target;
  for (int i = 0; i < 40; ++i) {
    source += "Das ist \u00FCbel. ";
    target += "That is bad. ";
  }
  write_file(path("long.en"), source + "\n");
  write_file(path("long.de"), target + "\n");
  auto words = command("long", {"--max-updates", "20", "--max-length", "0"});
  replace_part(words, "valid", "long");
  const auto trained = train(words);
  std::string start;  // 159 characters
  for (int i = 0; i < 11; ++i) start += "Das ist \u00FCbel. ";
  EXPECT_THAT(trained.errors, HasSubstr("sample 1: \"" + start + "Das i\u2026\", in the text"));
  EXPECT_THAT(read_file(path("long/log.jsonl")), HasSubstr(strip(source)));
}

TEST_F(TrainLog, WithoutEventFilesTheLogHasTheSmoothedLossAndThePlainNegativeLogLikelihood) {
  std::filesystem::create_directories(path("blind"));
  write_file(path("blind/tensorboard"), "a file stands here");
  const auto trained = train(command("blind", {"--max-updates", "20"}));
  EXPECT_THAT(trained.errors, Names("TensorBoard's ... not saved"));
  const auto updates = log_entries(path("blind/log.jsonl"), "update");
  EXPECT_FALSE(updates.empty());
  for (const auto& update : updates) {
    const double plain = update.at("negative_log_likelihood").get<double>();
    EXPECT_NEAR(std::log(update.at("perplexity").get<double>()), plain, 1e-9);
    EXPECT_NE(update.at("loss").get<double>(), plain);
  }
  EXPECT_THAT(read_file(path("blind/log.jsonl")), HasSubstr("\"update\":20"));
}

/// The first lines of a file of the sample, each in upper case.
std::string upper_lines(const std::string& file, int count) {
  std::istringstream lines(read_file(file));
  std::string text, line;
  while (count-- > 0 && std::getline(lines, line)) text += upper_case(line) + "\n";
  return text;
}

TEST_F(TrainLog, ValidationPairsThatAreTrainedOnAreNamedInTrainingAndInEvaluation) {
  // 20 lines of the training text in another case, after the 30 of the validation text.
  for (const std::string side : {"en", "de"}) {
    const std::string trained = upper_lines(sample("train." + side), 20);
    write_file(path("mixed." + side), read_file(sample("valid." + side)) + trained);
    write_file(path("trained." + side), trained);
  }
  auto words = command("overlap", {"--max-updates", "20"});
  replace_part(words, "valid", "mixed");
  const auto trained = train(words);
  EXPECT_THAT(trained.errors,
              Names("20 validation pairs ... lines 31, 32, 33, 34, 35 ... left out"));
  EXPECT_THAT(trained.errors, Names("30 validation pairs"));

  const auto evaluate = [](const std::string& text, const std::string& flag) {
    return run({"evaluate", "-m", path("overlap"), "--src", path(text + ".en"), "--ref",
                path(text + ".de"), "--max-length", "5", flag},
               "", kLimit)
        .errors;
  };
  EXPECT_THAT(evaluate("mixed", "--threads=1"),
              Names("overlap ... 20 of 50 lines ... lines 31, 32, 33, 34, 35"));
  EXPECT_THAT(evaluate("mixed", "--force"), Not(HasSubstr("trained on")));
  EXPECT_THAT(evaluate("sample/valid", "--threads=1"), Not(HasSubstr("trained on")));
}

TEST_F(TrainLog, PairsThatMayNotBeMeantForTrainingAreNamedWithTheData) {
  std::istringstream lines(read_file(sample("train.en")));
  std::string source, target, line;
  for (int i = 1; std::getline(lines, line); ++i) {
    source += line + "\n";
    target += (i % 10 == 0 ? line : "das " + line) + "\n";
  }
  write_file(path("copies.en"), source);
  write_file(path("copies.de"), target);
  auto words = command("copies", {"--max-updates", "1"});
  replace_part(words, "train", "copies");
  const std::string errors = run(words, "", kLimit).errors;
  EXPECT_THAT(errors, testing::ContainsRegex("look wrong: 1[0-9][0-9] \\((9|10)\\.. %\\) "
                                             ".*\\(lines 10, 20, 30, 40, 50, \\.\\.\\.\\)"));
  EXPECT_THAT(errors, HasSubstr("dragoman corpus --source " + path("copies.en") + " --target " +
                                path("copies.de") + " --valid-src " + sample("valid.en")));
}

TEST_F(TrainLog, NothingIsToBeLookedAtIfNoPairLooksWrong) {
  std::istringstream sources(read_file(sample("train.en"))), targets(read_file(sample("train.de")));
  std::set<std::string> seen;
  std::string source, target;
  for (std::string from, to; std::getline(sources, from) && std::getline(targets, to);) {
    if (!seen.insert(to).second) continue;
    source += from + "\n";
    target += to + "\n";
  }
  write_file(path("sound.en"), source);
  write_file(path("sound.de"), target);
  auto words = command("sound", {"--max-updates", "1"});
  replace_part(words, "train", "sound");
  EXPECT_THAT(run(words, "", kLimit).errors, HasSubstr("look wrong: none\n"));
}

}  // namespace
}  // namespace dragoman
