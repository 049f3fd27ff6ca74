#include "app/frame/progress.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace dragoman {
namespace {

ProgressState half_done() {
  return {.title = "train",
          .unit = "updates",
          .done = 5000,
          .total = 10000,
          .per_second = 12.34,
          .outlook = "",
          .status = "loss 2.31"};
}

TEST(ProgressBar, TheBarFillsByEighthsOfAColumn) {
  ProgressState state = half_done();
  EXPECT_EQ(progress_bar(state, 120),
            "train \xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96"
            "\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96"
            "\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88"
            "                      50 %  5,000/10,000 updates  12.3/s  6:46 left  loss 2.31");
  state.done = 125;  // half a column of 40
  EXPECT_EQ(progress_bar(state, 120).substr(6, 4), "\xe2\x96\x8c ");
}

TEST(ProgressBar, TheBarNeverExceedsTheTerminalsWidth) {
  for (int columns = 0; columns < 200; ++columns)
    EXPECT_LE(static_cast<int>(code_points(progress_bar(half_done(), columns)).size()), columns);
}

TEST(ProgressBar, ANarrowLineLeavesTheLessImportantFieldsOut) {
  ProgressState state = half_done();
  state.outlook = "6:46 left  validation in 1:20  best BLEU 38.20, 4:10 ago";
  state.status = "loss 2.310  epoch 7";
  const auto behind_the_bar = [&](int columns) {
    const std::string bar = progress_bar(state, columns);
    EXPECT_LE(code_points(bar).size(), static_cast<std::size_t>(columns));
    return bar.substr(bar.find("50 %"));
  };
  EXPECT_EQ(behind_the_bar(131),
            "50 %  5,000/10,000 updates  12.3/s  " + state.outlook + "  " + state.status);
  EXPECT_EQ(behind_the_bar(130),
            "50 %  5,000/10,000 updates  " + state.outlook + "  " + state.status);
  EXPECT_EQ(behind_the_bar(119), "50 %  " + state.outlook + "  " + state.status);
  EXPECT_EQ(progress_bar(state, 79), "train  50 %  " + state.outlook);
  EXPECT_EQ(progress_bar(state, 60), "train  50 %  6:46 left  validation in 1:20");
  EXPECT_EQ(progress_bar(state, 12), "train  50 %");
}

TEST(ProgressBar, ThePercentHasADecimalAtTheBeginningOfALargeTotal) {
  ProgressState state = half_done();
  state.done = 129;
  EXPECT_NE(progress_text(state).find("train: 1.2 %, 129/10,000"), std::string::npos);
}

TEST(ProgressBar, WithoutATotalTheBarCountsOn) {
  EXPECT_EQ(progress_bar({.title = "translate",
                          .unit = "lines",
                          .done = 1234567,
                          .total = 0,
                          .per_second = 1500,
                          .outlook = "",
                          .status = ""},
                         80),
            "translate  1,234,567 lines  1,500/s");
}

TEST(ProgressBar, MoreMayBeDoneThanTheTotal) {
  ProgressState state = half_done();
  state.done = 20000;
  EXPECT_EQ(progress_text(state), "train: 100 %, 20,000/10,000 updates, 12.3/s, loss 2.31");
  EXPECT_LE(code_points(progress_bar(state, 100)).size(), 100u);
}

TEST(ProgressBar, StepsWithoutAUnitHaveNoRate) {
  EXPECT_EQ(progress_text({.title = "tokenizer",
                           .unit = "",
                           .done = 7,
                           .total = 14,
                           .per_second = 7,
                           .outlook = "",
                           .status = ""}),
            "tokenizer: 50 %, 7/14, 0:01 left");
}

TEST(RateEstimate, TheRateOfASteadyPaceIsExact) {
  RateEstimate rate;
  for (int second = 0; second < 100; ++second) rate.observe(second, 1000 + 7 * second);
  EXPECT_NEAR(rate.per_second(), 7, 1e-9);
}

TEST(RateEstimate, TheRateFollowsAChangeOfPaceWithinAMinute) {
  RateEstimate rate;
  std::int64_t done = 0;
  for (int second = 0; second < 600; ++second) rate.observe(second, done += 10);
  for (int second = 600; second < 660; ++second) rate.observe(second, done += 2);
  EXPECT_NEAR(rate.per_second(), 2, 0.2);
}

}  // namespace
}  // namespace dragoman
