// The settings of a run: those that were asked for and those that were chosen, in its config.toml
// and in a resumed run.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

class TrainSettings : public Train {
 protected:
  static std::string settings_of(const std::string& run_folder) {
    return read_file(path(run_folder + "/config.toml"));
  }
};

TEST_F(TrainSettings, TheFileOfARunAsksForTheSameAndLetsTheRestBeChosenAnew) {
  const auto first = command("first", {"--max-updates", "30", "--lr-scheduler", "cosine", "--lr",
                                       "0.004", "--max-tokens", "auto"});
  ASSERT_EQ(run(first, "", kLimit).exit_code, 0);
  const std::string settings = settings_of("first");
  for (const char* line : {"lr = 0.004", "max-updates = 30", "# lr-end = 30  # --max-updates",
                           "max-tokens = \"auto\"  # 1024: the fewest",
                           "# patience = 0  # 1,496 pairs", "# update-freq = 1"})
    EXPECT_THAT(settings, HasSubstr(join_text("\n", line)));
  EXPECT_THAT(settings, HasSubstr("\n# output = "));

  // The rate of another run ends where that one does, not at 0 behind the 30th update.
  const auto longer = run(
      {"train", "--config", path("first/config.toml"), "-o", path("longer"), "--max-updates", "40"},
      "", kLimit);
  ASSERT_EQ(longer.exit_code, 0) << longer.errors;
  EXPECT_THAT(longer.errors, HasSubstr("trying token budgets"));
  EXPECT_THAT(settings_of("longer"), HasSubstr("\n# lr-end = 40  # --max-updates\n"));
  EXPECT_THAT(settings_of("longer"), HasSubstr("\nlr = 0.004\n"));
}

TEST_F(TrainSettings, TheFileOfARunDoesNotLeadIntoItsFolder) {
  ASSERT_EQ(run(command("old", {"--max-updates", "1"}), "", kLimit).exit_code, 0);
  std::filesystem::copy(path("old"), path("copied"), std::filesystem::copy_options::recursive);
  const auto result = run({"train", "--config", path("copied/config.toml")}, "", kLimit);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("-o/--output"));
}

TEST_F(TrainSettings, ARunGoesOnWithWhatItsCommandLeavesOpen) {
  const std::vector<std::string> more = {"--lr",  "0.003",        "--corpus-tags",
                                         "<a,b>", "--vocab-size", "310"};
  ASSERT_EQ(run(command("straight", more), "", kLimit).exit_code, 0);
  auto words = more;
  words.insert(words.end(), {"--max-updates", "30"});
  ASSERT_EQ(run(command("resumed", words), "", kLimit).exit_code, 0);
  const auto resumed = run({"train", "-o", path("resumed"), "--max-updates", "60"}, "", kLimit);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  EXPECT_THAT(resumed.errors, HasSubstr("resumed from"));
  EXPECT_THAT(resumed.errors, HasSubstr("changed: --max-updates 30 -> 60"));
  EXPECT_THAT(resumed.errors, Not(HasSubstr("not bit-identically")));
  const std::string last = "/checkpoints/update-00000060.safetensors";
  EXPECT_TRUE(weights("straight" + last) == weights("resumed" + last));
  EXPECT_THAT(settings_of("resumed"), HasSubstr("\nlr = 0.003\n"));
  EXPECT_THAT(settings_of("resumed"), HasSubstr("\ncorpus-tags = [\"<a,b>\"]\n"));
  EXPECT_THAT(settings_of("resumed"), HasSubstr("\nmax-updates = 60\n"));
}

TEST_F(TrainSettings, AutoLeavesAValueOpenThatTheFileGives) {
  write_file(path("given.toml"), "patience = 3\nlr = 'auto'\n");
  const auto result = run(
      command("open", {"--config", path("given.toml"), "--patience", "auto", "--max-updates", "1"}),
      "", kLimit);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(settings_of("open"), HasSubstr("\npatience = \"auto\"  # 0: 1,496 pairs\n"));
  EXPECT_THAT(settings_of("open"), HasSubstr("\nlr = \"auto\"  # 0.004: 1,500 pairs"));
}

}  // namespace
}  // namespace dragoman
