#include <gmock/gmock.h>

#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

using TrainRegularization = Train;

const std::vector<std::string> kBoth = {"--ema", "0.9", "--r-drop", "2", "--average-last", "0"};

TEST_F(TrainRegularization, TheModelIsTheMovingAverageAndAResumedRunHasTheSame) {
  auto half = kBoth;
  half.insert(half.end(), {"--max-updates", "30"});
  ASSERT_EQ(run(command("straight", kBoth), "", kLimit).exit_code, 0);
  ASSERT_EQ(run(command("resumed", half), "", kLimit).exit_code, 0);
  const auto resumed = run(command("resumed", kBoth), "", kLimit);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.errors;
  const std::string last = "/checkpoints/update-00000060.safetensors";
  for (const std::string& file : {last, std::string("/model.safetensors")})
    EXPECT_TRUE(weights("straight" + file) == weights("resumed" + file)) << file;
  const ModelFileReader straight(path("straight" + last)), other(path("resumed" + last));
  EXPECT_EQ(straight.tensor("training.weights").raw(), other.tensor("training.weights").raw());

  const auto best = ModelFileReader(path("straight/model.safetensors")).provenance().updates;
  EXPECT_TRUE(weights("straight/checkpoints/update-000000" + std::to_string(best) +
                      ".safetensors") == weights("straight/model.safetensors"));
}

TEST_F(TrainRegularization, AnotherAverageIsAnotherRun) {
  ASSERT_EQ(run(command("other", {"--max-updates", "10"}), "", kLimit).exit_code, 0);
  for (const char* flag : {"--ema", "--r-drop"}) {
    const auto result = run(command("other", {flag, "0.5"}), "", kLimit);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.errors, HasSubstr(std::string(flag) + ": this run was started with '0'"));
  }
}

TEST_F(TrainRegularization, RDropNeedsDropout) {
  const auto result = run(command("dry", {"--r-drop", "2", "--dropout", "0", "--attention-dropout",
                                          "0", "--activation-dropout", "0"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--r-drop: its two passes differ by dropout alone"));
}

}  // namespace
}  // namespace dragoman
