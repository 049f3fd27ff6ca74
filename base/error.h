// The two kinds of failure that a user can mend. `main` prints what() as one line and exits with
// the code. Any other exception that reaches `main` is a defect of ours (exit code 3).
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dragoman {

/// The parts as `<<` writes them, one after the other.
template <class... Parts>
std::string join_text(const Parts&... parts) {
  std::ostringstream text;
  text.exceptions(std::ios::badbit);  // a stream otherwise swallows std::bad_alloc
  (text << ... << parts);
  return text.str();
}

/// The data, a file or the machine is at fault: exit code 1. The text names the fault, its place
/// and the remedy: `throw Error(path, ":", line, ": invalid UTF-8")`.
class Error : public std::runtime_error {
 public:
  template <class... Parts>
  explicit Error(const Parts&... parts) : std::runtime_error(join_text(parts...)) {}
};

/// The command line or the configuration is at fault: exit code 2. The text names the flag.
class UsageError : public std::runtime_error {
 public:
  template <class... Parts>
  explicit UsageError(const Parts&... parts) : std::runtime_error(join_text(parts...)) {}
};

/// The result of work(). Its errors get the place where they are: "PLACE: WHAT".
template <class Work>
auto with_place(std::string_view place, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(place, ": ", error.what());
  }
}

}  // namespace dragoman
