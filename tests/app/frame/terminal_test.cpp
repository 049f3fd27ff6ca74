// Log lines and the progress bar, also on a real terminal (a pseudo-terminal).
#include "app/frame/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>

#include "app/frame/log.h"
#include "app/frame/program.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

TEST(Log, ControlCharactersAndInvalidBytesAreShown) {
  EXPECT_EQ(printable("a\x1b[2J\nb\xff\xc3\xa4"),
            "a\\x1b[2J\\x0a"
            "b\xef\xbf\xbd\xc3\xa4");
}

using testing::HasSubstr;
using testing::Not;

/// What `work` writes to a terminal of 60 columns that is its standard error.
std::string shown_by(const std::function<void()>& work) {
  winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    setenv("TERM", "xterm", 1);
    work();
    _exit(0);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  waitpid(child, nullptr, 0);
  close(terminal);
  return text;
}

TEST(Terminal, LogLinesStandAboveTheBarWhichIsDrawnAgain) {
  const std::string text = shown_by([] {
    Progress progress("work", "steps", 4);
    log_info("a line");
  });
  const std::size_t line = text.find("a line");
  ASSERT_NE(line, std::string::npos);
  const std::string before = text.substr(0, line), after = text.substr(line);
  EXPECT_THAT(before, HasSubstr("0/4 steps"));
  EXPECT_THAT(before, HasSubstr("\r\x1b[K2"));  // erased, then the year
  EXPECT_THAT(after, HasSubstr("0/4 steps"));
  EXPECT_THAT(after, testing::EndsWith("\r\x1b[K"));
}

TEST(Terminal, NothingIsInColourSoNoColorHoldsAlways) {
  const std::string text = shown_by([] {
    Progress progress("work", "steps", 4);
    log_info("a line");
    log_warning("a doubt");
    log_error("a fault");
  });
  EXPECT_THAT(text, HasSubstr("a fault"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("\x1b\\[[0-9;]*m")));  // ECMA-48's SGR
}

TEST(Terminal, HelpIsAsWideAsTheTerminal) {
  const std::string text = shown_by([] {
    const Command command{.name = "work", .summary = "takes its time", .fields = {}, .run = {}};
    const Program program{.name = "dragoman",
                          .summary = "trains a model on two text files, and translates with it.",
                          .example = "",
                          .commands = nullptr,
                          .libraries = nullptr};
    std::cout << overview(program, {command}) << command_help("dragoman", command);
    std::cout.flush();
  });
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)  // ends with a carriage return
    widest = std::max(widest, line.size() - 1);
  EXPECT_LE(widest, 60U) << text;
  EXPECT_GT(widest, 50U);
}

TEST(Terminal, TheBarIsDrawnAtMostTenTimesASecond) {
  const std::string text = shown_by([] {
    Progress progress("work", "steps", 1'000'000);
    for (int i = 0; i < 1000; ++i) progress.update(i);
  });
  std::size_t redraws = 0;
  for (std::size_t at = text.find("work"); at != std::string::npos; at = text.find("work", at + 1))
    ++redraws;
  EXPECT_LE(redraws, 3u);
  EXPECT_GE(redraws, 1u);
}

TEST(Terminal, NoBarIsShownIfLinesAreJsonOrTheUserWantsQuiet) {
  EXPECT_EQ(shown_by([] {
              configure_log(LogFormat::Text, Verbosity::Quiet);
              Progress progress("work", "steps", 4);
              log_info("unheard");
            }),
            "");
  const std::string json = shown_by([] {
    configure_log(LogFormat::Json, Verbosity::Normal);
    Progress progress("work", "steps", 4);
    log_warning("heard");
  });
  EXPECT_THAT(json, Not(HasSubstr("steps")));
  EXPECT_THAT(json, HasSubstr("\"level\":\"warning\",\"message\":\"heard\"}"));
}

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

TEST(ProgressText, ATitleThatStandsAloneHasNoColon) {
  EXPECT_EQ(progress_text({.title = "training the tokenizer",
                           .unit = "",
                           .done = 0,
                           .total = 0,
                           .per_second = 0,
                           .outlook = "",
                           .status = ""}),
            "training the tokenizer");
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
