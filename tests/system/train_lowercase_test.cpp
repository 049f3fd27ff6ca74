#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>

#include "base/files.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

using TrainLowercase = Train;

TEST_F(TrainLowercase, TheModelReadsAndWritesLowerCaseAndSaysSoWhenItIsScored) {
  const auto trained = run(command("lower", {"--lowercase"}), "", kLimit);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  const std::string model = path("lower/model.safetensors");
  const auto upper = run({"translate", "-m", model}, "THE DOG SEES A HOUSE.\n");
  const auto lower = run({"translate", "-m", model}, "the dog sees a house.\n");
  EXPECT_EQ(upper.exit_code, 0) << upper.errors;
  EXPECT_EQ(upper.output, lower.output);
  EXPECT_TRUE(std::ranges::none_of(upper.output, [](unsigned char c) { return std::isupper(c); }));

  const std::vector<std::string> evaluate = {
      "evaluate", "-m", model, "--src", sample("valid.en"), "--ref", sample("valid.de")};
  const std::string warning = "writes lower case alone";
  EXPECT_THAT(run(evaluate, "", kLimit).errors, HasSubstr(warning));
  auto in_lower_case = evaluate;
  in_lower_case.push_back("--lowercase");
  EXPECT_THAT(run(in_lower_case, "", kLimit).errors, Not(HasSubstr(warning)));
}

}  // namespace
}  // namespace dragoman
