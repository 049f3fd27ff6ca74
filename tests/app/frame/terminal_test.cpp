// The bar and the log on a real terminal (a pseudo-terminal), each in a process of its own.
#include "app/frame/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "app/frame/log.h"
#include "app/frame/progress.h"

namespace dragoman {
namespace {

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

TEST(Terminal, NoBarIsShownWhereLinesAreJsonOrTheUserWantsQuiet) {
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

}  // namespace
}  // namespace dragoman
