#include "app/frame/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "app/frame/log.h"

namespace dragoman {
namespace {

/// The exit code of a process that handles signals and does `work`.
int exit_code_of(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    configure_log(LogFormat::Text, Verbosity::Normal);
    install_signal_handling();
    alarm(20);
    _exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

int wait_for_stop(const std::stop_token& token) {
  while (!token.stop_requested()) rest();
  return received_signal().value_or(0);
}

TEST(Signals, ASignalBecomesAStopTokenForThoseWhoListen) {
  for (const int signal : {SIGINT, SIGTERM})
    EXPECT_EQ(exit_code_of([=] {
                const auto token = listen_for_stop();
                kill(getpid(), signal);
                return wait_for_stop(token);
              }),
              signal);
}

TEST(Signals, ASignalEndsTheProcessAtOnceIfNobodyListens) {
  EXPECT_EQ(exit_code_of([] {
              kill(getpid(), SIGINT);
              for (;;) rest();
              return 0;
            }),
            128 + SIGINT);
}

TEST(Signals, ASecondSignalEndsTheProcessAtOnce) {
  EXPECT_EQ(exit_code_of([] {
              const auto token = listen_for_stop();
              kill(getpid(), SIGINT);
              wait_for_stop(token);
              std::this_thread::sleep_for(std::chrono::milliseconds(350));
              kill(getpid(), SIGTERM);
              for (;;) rest();
              return 0;
            }),
            128 + SIGTERM);
}

TEST(Signals, TwoSignalsThatComeTogetherAreOneRequest) {
  EXPECT_EQ(exit_code_of([] {
              const auto token = listen_for_stop();
              kill(getpid(), SIGTERM);
              wait_for_stop(token);
              kill(getpid(), SIGTERM);
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              return 7;
            }),
            7);
}

/// The exit code if the process was started with SIGHUP ignored, as nohup does.
int exit_code_under_nohup_of(const std::function<int()>& work) {
  const auto before = std::signal(SIGHUP, SIG_IGN);
  const int code = exit_code_of(work);
  std::signal(SIGHUP, before);
  return code;
}

TEST(Signals, AHangupThatIsIgnoredStopsNothing) {
  EXPECT_EQ(exit_code_under_nohup_of([] {
              const auto token = listen_for_stop();
              kill(getpid(), SIGHUP);
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              return token.stop_requested() || received_signal() ? 1 : 7;
            }),
            7);
  EXPECT_EQ(exit_code_under_nohup_of([] {
              kill(getpid(), SIGHUP);
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              return 7;
            }),
            7)
      << "nobody listens";
}

TEST(Signals, AHangupThatIsIgnoredStillRunsItsAction) {
  EXPECT_EQ(exit_code_under_nohup_of([] {
              static std::atomic<int> hangups = 0;
              kill(getpid(), SIGHUP);
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              on_hangup([] { ++hangups; });
              const auto token = listen_for_stop();
              for (int sent = 1; sent <= 2; ++sent) {
                kill(getpid(), SIGHUP);
                while (hangups < sent) rest();
              }
              return token.stop_requested() ? 1 : hangups == 2 ? 7 : 2;
            }),
            7);
}

TEST(Signals, AClosedPipeIsAFailedWrite) {
  EXPECT_EQ(exit_code_of([] {
              int ends[2];
              if (pipe(ends) != 0) return 1;
              close(ends[0]);
              return write(ends[1], "x", 1) == -1 && errno == EPIPE ? 7 : 1;
            }),
            7);
}

}  // namespace
}  // namespace dragoman
