// SIGINT, SIGTERM and SIGHUP become a stop token. A thread waits for them, so nothing runs in a
// signal handler. SIGPIPE is ignored: a closed pipe is a failed write.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

namespace dragoman {

/// Called first in main, before any other thread exists: all threads inherit the signal mask. A
/// signal that was ignored when the program started (a script's background job) stays ignored.
void install_signal_handling();

/// From the first call on, the first signal requests a stop, and the caller must heed the token. A
/// second signal ends the process at once with exit code 128 + signal, unless it comes within 300
/// ms: then both mean the same request. Before the first call, the first signal ends the process.
std::stop_token listen_for_stop();

/// From now on SIGHUP calls this function, on the thread that waits for signals, and stops nothing,
/// even if the program was started with SIGHUP ignored, as nohup does.
void on_hangup(std::function<void()> action);

/// The first signal that came, if one did.
std::optional<int> received_signal();

}  // namespace dragoman
