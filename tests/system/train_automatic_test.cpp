// The settings that train chooses where its command leaves them open, and the end of a run that has
// no length.
#include <gmock/gmock.h>

#include <csignal>

#include "base/files.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

class TrainAutomatic : public Train {
 protected:
  /// The two texts and nothing that decides the model.
  static std::vector<std::string> two_files(const std::string& run_folder,
                                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        "train",           "-o", path(run_folder), "--train-src", sample("train.en"), "--train-tgt",
        sample("train.de")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(TrainAutomatic, TwoFilesAreEnoughAndTheChoicesAreSaidAndKept) {
  const auto first = run(two_files("run", {"--max-updates", "8"}), "", kLimit);
  ASSERT_EQ(first.exit_code, 0) << first.errors;
  EXPECT_THAT(first.errors, HasSubstr(" pairs: tiny, "));
  EXPECT_THAT(first.errors, HasSubstr("warning: only 1,3"));
  EXPECT_THAT(first.errors, HasSubstr("first update done (1): "));
  const std::string settings = read_file(path("run/config.toml"));
  EXPECT_THAT(settings, HasSubstr("\n# preset = \"tiny\"  # 1,500 pairs\n"));
  EXPECT_THAT(settings, HasSubstr("\n# patience = 0  # 1,3"));
  EXPECT_THAT(settings, HasSubstr("\n# lr-scheduler = \"wsd\""));

  const auto longer = run(two_files("run", {"--max-updates", "12"}), "", kLimit);
  EXPECT_EQ(longer.exit_code, 0) << longer.errors;
  EXPECT_THAT(longer.errors, HasSubstr("its rate, which was falling, is at its peak again"));
  EXPECT_THAT(longer.errors, Not(HasSubstr("not bit-identically")));
}

TEST_F(TrainAutomatic, AValueThatAFlagGivesIsNotChosen) {
  const auto result = run(two_files("flags", {"--max-updates", "3", "--vocab-size", "400", "--lr",
                                              "0.001", "--preset", "small", "--patience", "3"}),
                          "", kLimit);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr(" pairs: small, 400 pieces, 3 updates"));
  const std::string settings = read_file(path("flags/config.toml"));
  for (const char* line : {"lr = 0.001", "vocab-size = 400", "patience = 3", "preset = \"small\""})
    EXPECT_THAT(settings, HasSubstr(join_text("\n", line, "\n")));
  EXPECT_THAT(settings, HasSubstr("\n# subword-sampling = 0.1  # 1,500 pairs\n"))
      << "what the preset that was asked for leaves open";
}

TEST_F(TrainAutomatic, ARunThatGainsNothingCoolsDownAndEnds) {
  const auto result =
      run(command("flat", {"--lr-scheduler", "wsd", "--lr", "1e-60", "--warmup-updates", "1",
                           "--valid-every", "5", "--patience", "2", "--cooldown", "0.5",
                           "--max-updates", "1000"}),
          "", kLimit);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  // Validations at 5, 10 and 15; as many updates again with a falling rate.
  EXPECT_THAT(result.errors, HasSubstr("no gain in 2 validations: the rate falls from here to "
                                       "update 30, where the run ends"));
  EXPECT_THAT(result.errors, HasSubstr("finished by --patience after 30 updates"));
  EXPECT_THAT(result.errors, HasSubstr("give the same command a --patience above 2, or 0"));
}

TEST_F(TrainAutomatic, ARunThatIsStoppedSaysHowItEndsSoonAndDoesSo) {
  const std::vector<std::string> wsd = {"--lr-scheduler", "wsd",    "--warmup-updates", "2",
                                        "--max-updates",  "1000000"};
  Process process(command("early", wsd));
  ASSERT_TRUE(process.wait_for_errors("validation at update 20", kLimit));
  process.send_signal(SIGINT);
  const auto stopped = process.wait(kLimit);
  const std::string flag = "add --max-updates ";
  const auto at = stopped.errors.find(flag);
  ASSERT_NE(at, std::string::npos) << stopped.errors;
  const std::string updates = std::to_string(std::stoll(stopped.errors.substr(at + flag.size())));
  std::vector<std::string> shorter = wsd;
  shorter.insert(shorter.end(), {"--max-updates", updates});
  const auto ended = run(command("early", shorter), "", kLimit);
  EXPECT_EQ(ended.exit_code, 0) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("finished by --max-updates after " + updates + " updates"));
}

TEST_F(TrainAutomatic, ARunThatIsStoppedWhileItCoolsDownEndsWithTheSameWeights) {
  const std::vector<std::string> wsd = {"--lr-scheduler", "wsd", "--cooldown",    "0.6",
                                        "--ema",          "0.9", "--max-updates", "300"};
  ASSERT_EQ(run(command("whole", wsd), "", kLimit).exit_code, 0);
  Process process(command("stopped", wsd));
  ASSERT_TRUE(process.wait_for_errors("the rate falls from here to update 300", kLimit));
  process.send_signal(SIGINT);
  const auto stopped = process.wait(kLimit);
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT) << stopped.errors;
  const auto resumed = run(command("stopped", wsd), "", kLimit);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const std::string last = "/checkpoints/update-00000300.safetensors";
  EXPECT_TRUE(weights("whole" + last) == weights("stopped" + last));
}

}  // namespace
}  // namespace dragoman
