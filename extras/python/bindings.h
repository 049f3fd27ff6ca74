// What the sources of the module dragoman._native share: calls that Ctrl-C ends. The module gives
// Python plain tuples and lists; the package's own classes are in dragoman/*.py.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <utility>

namespace dragoman {

void bind_translator(nanobind::module_& module);

/// Calls work(stop token) on another thread and waits without the GIL. A signal such as Ctrl-C
/// requests the stop; its exception is thrown after `work` has ended. `work` must not use Python.
template <class Work>
auto run_interruptibly(Work&& work) {
  constexpr std::chrono::milliseconds kPause(50);
  std::stop_source stop;
  auto result = std::async(std::launch::async, std::forward<Work>(work), stop.get_token());
  const auto wait = [&result](auto duration) {
    const nanobind::gil_scoped_release release;
    return result.wait_for(duration) == std::future_status::ready;
  };
  while (!wait(kPause)) {
    if (PyErr_CheckSignals() == 0) continue;
    const nanobind::python_error interrupt;
    stop.request_stop();
    while (!wait(kPause)) continue;
    throw interrupt;
  }
  return result.get();
}

/// A message of the program in Python's words: "--beam-size" becomes "beam_size".
std::string in_python_words(const std::string& message);

}  // namespace dragoman
