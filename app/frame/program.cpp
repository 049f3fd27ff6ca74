#include "app/frame/program.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/frame/command_line.h"
#include "app/frame/field_names.h"
#include "app/frame/help.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/standard_output.h"
#include "app/frame/terminal.h"
#include "base/amounts.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/line_stream.h"
#include "base/memory.h"
#include "base/threads.h"

namespace dragoman {

namespace {

enum ExitCode : int { kDone = 0, kFailed = 1, kMisused = 2, kDefect = 3 };
constexpr std::string_view kNoMemory =
    "not enough memory; a smaller model, smaller batches (train --max-tokens, translate "
    "--batch-size) or fewer --threads need less";

/// A standard stream that is closed would lend its number to the next file that is opened, and that
/// file would be read or written in its place. What stands there instead fails as it does.
void hold_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)
      (void)!open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

/// Called before any thread exists, as threads inherit the processor's modes.
void prepare_process() {
  hold_closed_streams();
#if defined(__SSE2__)
  // A denormal number costs a hundred times the time of a normal one, and we need none.
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
  make_arenas();
  install_signal_handling();
  install_standard_output();
}

std::string version_text(const Program& program) {
  return join_text(program.name, ' ', DRAGOMAN_VERSION, '\n', program.libraries(), "processor ",
                   cpu_features().model, ": ", cpu_features().instructions, ", ",
                   counted(available_cores(), "core"), "\n");
}

int run_command(const Command& command, const Aliases& typed) {
  try {
    return command.run();
  } catch (const UsageError& error) {
    throw UsageError(with_typed_flag(error.what(), typed));
  }
}

int run_command(const Program& program, const Command& command,
                const std::vector<std::string>& arguments) {
  const Call call = configure(program.name, command, arguments);
  const CommonConfig& common = call.common;
  if (common.help) {
    std::cout << command_help(program.name, command);
    return kDone;
  }
  configure_log(common.log_format, common.quiet ? Verbosity::Quiet : Verbosity::Normal);
  for (const std::string& warning : call.warnings) log_warning(warning);
  const int code = run_command(command, call.typed);
  if (const auto signal = received_signal(); signal && !command.ends_by_signal)
    return 128 + *signal;
  return code;
}

int run(const Program& program, const std::vector<std::string>& arguments) {
  const std::vector<Command> commands = program.commands();
  const std::string name = arguments.empty() ? "--help" : arguments.front();
  if (name == "--help" || name == "-h") {
    std::cout << overview(program, commands);
    return kDone;
  }
  if (name == "--version") {
    std::cout << version_text(program);
    return kDone;
  }
  if (name == "help") {
    if (arguments.size() == 1) return run(program, {"--help"});
    return run(program, {arguments[1], "--help"});
  }
  if (name.starts_with('-')) {
    const std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    const std::vector<std::string> flags = {"help", "version"};
    throw UsageError("unknown flag ", name, suggestion(word, "--", flags));
  }
  std::vector<std::string> names = {"help"};
  for (const Command& command : commands) {
    if (command.name == name)
      return run_command(program, command, {arguments.begin() + 1, arguments.end()});
    names.push_back(command.name);
  }
  if (name == program.elsewhere)
    throw UsageError(name, " is a command of dragoman; ", program.name,
                     " has none that needs LibTorch");
  throw UsageError("unknown command ", name, suggestion(name, "", names));
}

/// Errors in the command line itself come in the format that it asks for, too.
bool asks_for_json(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = with_hyphens(arguments[i]);
    if (flag == "--log-format=json") return true;
    if (flag == "--log-format" && i + 1 < arguments.size() && arguments[i + 1] == "json")
      return true;
  }
  return false;
}

void write_error(const Program& program, const std::string& text) {
  const std::string line = join_text(program.name, ": error: ", text);
  // A stream that lacks memory for its text ends early, without an exception.
  if (!line.ends_with(text)) throw std::bad_alloc();
  Terminal::standard_error().write_line(line);
}

int report(const Program& program, int code, std::string_view text) {
  if (log_format() == LogFormat::Json)
    log_error(text);
  else
    write_error(program, printable(text));
  return code;
}

int report_misuse(const Program& program, const std::string& text,
                  const std::vector<std::string>& arguments) {
  std::string command;
  for (const Command& known : program.commands())
    if (!arguments.empty() && known.name == arguments.front()) command = known.name + " ";
  return report(program, kMisused,
                join_text(text, " (", program.name, ' ', command, "--help tells more)"));
}

/// The standard library throws this error without a subject where a thread cannot begin.
std::string system_error_text(const std::system_error& error) {
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return join_text(file->path1().string(), ": ", error.code().message(),
                     error.code() == std::errc::too_many_files_open
                         ? "; raise the number of open files (ulimit -n)"
                         : "");
  if (error.code() != std::errc::resource_unavailable_try_again) return error.what();
  return join_text("cannot start another thread: ", error.what(),
                   "; fewer --threads, or more memory (ulimit -v) or processes (ulimit -u)");
}

int report_unexpected(const Program& program, const std::exception& error) {
  if (is_out_of_memory(error))  // LibTorch's message quotes its own source
    return report(program, kFailed, kNoMemory);
  const std::string_view whole = error.what();
  const std::string_view text = whole.substr(0, whole.find('\n'));
  return report(program, kDefect, join_text("a defect of dragoman, please report it: ", text));
}

int run_and_report(const Program& program, const std::vector<std::string>& arguments) {
  try {
    prepare_process();
    if (asks_for_json(arguments)) configure_log(LogFormat::Json, Verbosity::Normal);
    const int code = run(program, arguments);
    std::cout.flush();
    return code;
  } catch (const ClosedPipe&) {
    return 128 + SIGPIPE;
  } catch (const UsageError& error) {
    return report_misuse(program, error.what(), arguments);
  } catch (const Error& error) {
    return report(program, kFailed, error.what());
  } catch (const std::system_error& error) {
    return report(program, kFailed, system_error_text(error));
  } catch (const std::bad_alloc&) {
    return report(program, kFailed, kNoMemory);
  } catch (const std::exception& error) {
    return report_unexpected(program, error);
  } catch (...) {
    return report(program, kDefect,
                  "a defect of dragoman, please report it: an exception without a text");
  }
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  try {
    return run_and_report(program, {argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {  // too little memory to say what has failed
    constexpr std::string_view kText = "error: not enough memory\n";
    (void)!write(STDERR_FILENO, kText.data(), kText.size());
    return kFailed;
  }
}

}  // namespace dragoman
