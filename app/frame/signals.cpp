#include "app/frame/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "app/frame/child_program.h"
#include "app/frame/log.h"
#include "app/frame/terminal.h"
#include "base/error.h"
#include "base/files.h"

namespace dragoman {

namespace {

std::atomic<int> first_signal = 0;
std::atomic<bool> has_listener = false;
std::atomic<bool> ignores_hangups = false;
std::atomic<const std::function<void()>*> hangup_action = nullptr;

// Never destroyed: the waiting thread outlives main's static objects.
std::stop_source& source() {
  static auto* const stop = new std::stop_source;
  return *stop;
}

/// Writes without the locks of terminal and log, as a thread that is stuck may hold them.
void write_past_locks(std::string_view text) {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

[[noreturn]] void leave(int signal) {
  if (Terminal::standard_error().is_interactive()) write_past_locks("\r\x1b[K");
  if (first_signal != 0 && log_format() == LogFormat::Text)
    write_past_locks("left at once: unfinished work is lost\n");
  remove_unfinished();
  _exit(128 + signal);
}

/// Some launchers signal a process and its group: two signals within this time are one request.
constexpr std::chrono::milliseconds kSameRequest{300};

void wait_for_signals(sigset_t awaited) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point first_at;
  for (;;) {
    int signal = 0;
    if (sigwait(&awaited, &signal) != 0) continue;
    if (const auto* action = hangup_action.load(); signal == SIGHUP && action != nullptr) {
      (*action)();
      continue;
    }
    if (signal == SIGHUP && ignores_hangups) continue;
    const bool again = first_signal != 0;
    if (again && Clock::now() - first_at < kSameRequest) continue;
    if (!has_listener || again) leave(signal);
    first_signal = signal;
    first_at = Clock::now();
    source().request_stop();
    if (is_part()) continue;
    log_warning(
        join_text("SIG", sigabbrev_np(signal), ": finishing cleanly; once more to leave at once"));
  }
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void install_signal_handling() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);  // write() says why
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int signal : {SIGINT, SIGTERM})
    if (!is_ignored(signal)) sigaddset(&awaited, signal);
  // Even if it is ignored: on_hangup may want it.
  sigaddset(&awaited, SIGHUP);
  ignores_hangups = is_ignored(SIGHUP);
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);
  std::thread(wait_for_signals, awaited).detach();
}

std::stop_token listen_for_stop() {
  has_listener = true;
  return source().get_token();
}

void on_hangup(std::function<void()> action) {
  // Never destroyed: the waiting thread may call it while main returns.
  hangup_action = new std::function<void()>(std::move(action));
  // A signal that is ignored need not reach the waiting thread. All threads block this one, so it
  // ends nothing.
  std::signal(SIGHUP, SIG_DFL);
}

std::optional<int> received_signal() {
  const int signal = first_signal;
  return signal == 0 ? std::nullopt : std::optional(signal);
}

}  // namespace dragoman
