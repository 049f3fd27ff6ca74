#include "extras/report/training_objective.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

PlottedRun run_of(const char* name, std::map<std::string, std::string> settings) {
  PlottedRun run{.name = name, .history = {}};
  run.history.settings = std::move(settings);
  return run;
}

TEST(TrainingObjective, TheObjectiveFollowsFromTheSettings) {
  const auto told = [](std::map<std::string, std::string> settings) {
    return training_objective(run_of("a", std::move(settings)).history);
  };
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told({{"label-smoothing", "0.1"}, {"r-drop", "0"}}), "label smoothing 0.1");
  EXPECT_EQ(told({{"label-smoothing", "0"}}), "no label smoothing, so the same as nll");
  EXPECT_EQ(told({{"label-smoothing", "0.1"}, {"r-drop", "5"}, {"guided-alignment", "links"}}),
            "label smoothing 0.1, R-Drop 5 (without its divergence), without the alignment loss");
}

TEST(TrainingObjective, TheObjectiveOfEachOfSeveralRunsIsNamedWhereItDiffers) {
  const auto smooth = run_of("a", {{"label-smoothing", "0.1"}}),
             plain = run_of("b", {{"label-smoothing", "0"}}),
             like_the_first = run_of("c", {{"label-smoothing", "0.1"}}), old = run_of("d", {});
  EXPECT_EQ(training_objectives({smooth, like_the_first}), "label smoothing 0.1");
  EXPECT_EQ(training_objectives({smooth, plain, like_the_first, old}),
            "not to be compared; a, c: label smoothing 0.1; b: no label smoothing, so the same as "
            "nll; d: settings not known");
}

}  // namespace
}  // namespace dragoman
