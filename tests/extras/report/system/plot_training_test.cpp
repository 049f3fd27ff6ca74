// dragoman plot on the run of a training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using PlotTraining = Train;

TEST_F(PlotTraining, TheCommandThatPlotsTheRunIsNamedAndWorks) {
  const auto trained = run(command("watched", {"--max-updates", "20"}), "", kLimit);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_THAT(trained.errors, HasSubstr("dragoman plot " + path("watched") + " -o"));
  const auto page = run({"plot", path("watched"), "-o", "-"});
  EXPECT_EQ(page.exit_code, 0) << page.errors;
  EXPECT_EQ(page.errors, "");
  const std::string source = read_file(sample("valid.en"));
  EXPECT_THAT(trained.errors, HasSubstr("sample 1: \"" + source.substr(0, source.find('\n')) + '"'))
      << "the text of the sample, so that its translation can be judged";
  for (const char* part : {"by-time", "BLEU of the validation text", "Sample translations",
                           "Parameters", "warmup-updates"})
    EXPECT_THAT(page.output, HasSubstr(part));
}

}  // namespace
}  // namespace dragoman
