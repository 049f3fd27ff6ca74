// Runs the program as a user would: words, standard input and output, signals, exit code.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "tests/names.h"

namespace dragoman {

/// The built programs and the folder of the sources. One unit knows the paths, so that a compiler's
/// cache serves every clone.
extern const char* const kProgram;
extern const char* const kLiteProgram;
extern const char* const kSources;

struct ProcessResult {
  int exit_code = -1;  ///< as the shell counts: 128 + n when signal n ended it
  bool timed_out = false;
  std::string output, errors;
};

using Variables = std::map<std::string, std::string>;

/// Any command, looked up in PATH.
struct CommandWords {
  std::vector<std::string> words;
};

/// The built program with these arguments, or another command. The destructor kills it if it still
/// runs.
class Process {
 public:
  using Seconds = std::chrono::seconds;

  explicit Process(const std::vector<std::string>& arguments, const Variables& environment = {});
  explicit Process(CommandWords command, const Variables& environment = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  void send(const std::string& text);  ///< to its standard input; waits until it is taken
  void close_input();
  void send_signal(int signal);

  /// Waits until standard output (or error) has the text; false after the limit or at the end.
  bool wait_for_output(const std::string& text, Seconds limit = Seconds(60));
  bool wait_for_errors(const std::string& text, Seconds limit = Seconds(60));
  std::string output();
  std::string errors();

  /// Closes its standard input and waits for its end; kills it after the limit.
  ProcessResult wait(Seconds limit = Seconds(60));

 private:
  struct Stream {
    int descriptor = -1;
    std::string text;
    bool ended = false;
    std::jthread reader;
  };

  void read(Stream& stream);
  bool wait_for(Stream& stream, const std::string& text, Seconds limit);

  pid_t id_ = -1;
  int input_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  Stream output_, errors_;
};

ProcessResult run(const std::vector<std::string>& arguments, const std::string& input = "",
                  std::chrono::seconds limit = std::chrono::seconds(60));

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A folder of its own for a test, removed at its end.
class TemporaryFolder {
 public:
  std::filesystem::path operator/(const std::string& name) const { return path() / name; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  ScratchFolder folder_{std::filesystem::temp_directory_path() / "dragoman-"};
};

/// The exit code, and a line on standard error that names these.
inline void expect_failure(const ProcessResult& result, int code, const std::string& names) {
  EXPECT_EQ(result.exit_code, code) << result.errors;
  EXPECT_THAT(result.errors, Names(names));
}

/// One line on standard error with `what` in it, nothing on standard output.
inline void expect_one_error(const ProcessResult& result, int code, const std::string& what,
                             const std::string& program = "dragoman") {
  EXPECT_EQ(result.exit_code, code);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors,
              testing::AllOf(testing::StartsWith(program + ": error: "), Names(what)));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
}

/// A command of the shell in the folder, in a mount namespace of its own, in which /proc is empty.
/// Its "$1" is the program.
inline CommandWords without_proc(const std::filesystem::path& folder, const std::string& command) {
  return {{"unshare", "--map-root-user", "--mount", "sh", "-c",
           "mount -t tmpfs tmpfs /proc && cd \"$0\" && " + command, folder, kProgram}};
}

inline bool can_hide_proc() {
  Process probe(without_proc("/", "true"));
  return probe.wait().exit_code == 0;
}

}  // namespace dragoman
