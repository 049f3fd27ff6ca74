// dragoman evaluate --tune: it chooses the search that translate takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/system/expect_one_error.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

class EvaluateTune : public Translate {};

TEST_F(EvaluateTune, AModelThatCannotBeWrittenIsRefusedBeforeTheWork) {
  // So long a name that none is left for the file beside it: that holds for root, too.
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
  expect_one_error(result, 1, "a training is at work here");
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
  EXPECT_THAT(tuned.errors, HasSubstr("--tune: 3 lines say little"));
  EXPECT_THAT(tuned.errors, testing::Not(HasSubstr(": chrF2 "))) << "the table has the scores";
  EXPECT_THAT(tuned.errors,
              HasSubstr("translates with beam " + beam + ", length penalty " + penalty));
  const auto systems = nlohmann::json::parse(tuned.output);
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
