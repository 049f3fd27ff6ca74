// The texts of --help, and the body of main(): the streams and signals of the process, the choice
// of the command, and the report of its errors.
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
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/frame/command_line.h"
#include "app/frame/flag_names.h"
#include "app/frame/log.h"
#include "app/frame/signals.h"
#include "app/frame/terminal.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "base/lines.h"
#include "base/machine.h"
#include "base/threads.h"

namespace dragoman {

namespace {

constexpr std::size_t kHelpColumn = 34;

/// The width of help: that of the terminal that shows it, within bounds.
std::size_t help_columns() {
  constexpr int kFewest = 60, kMost = 96;
  if (isatty(STDOUT_FILENO) == 0) return kMost;
  return static_cast<std::size_t>(std::clamp(Terminal::standard_error().columns(), kFewest, kMost));
}

/// `text` broken at spaces into columns [indent, help_columns()); the first line has no indent.
std::string wrapped(std::string_view text, std::size_t indent) {
  const std::size_t columns = help_columns();
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + 1 + word.size() > columns) {
      result.append(1, '\n').append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string placeholder(const Field& field) {
  if (const std::string_view given = field.info.placeholder; !given.empty())
    return join_text(given, field.kind == Field::Kind::List ? "..." : "");
  constexpr const char* kPlaceholders[] = {"", "N", "X", "TEXT", "NAME", "TEXT..."};  // by Kind
  return kPlaceholders[static_cast<std::size_t>(field.kind)];
}

std::string letter_of(const Command& command, const Field& field) {
  for (const auto& [letter, name] : command.short_flags)
    if (name == field.info.name) return letter;
  for (const std::string& alias : aliases_of(field))
    if (alias.size() == 1) return alias;
  return "";
}

/// The field's default value; "" if there is none to show.
std::string default_text(const Command& command, const Field& field) {
  if (std::find(command.automatic.begin(), command.automatic.end(), field.info.name) !=
      command.automatic.end())
    return "auto";
  if (field.kind == Field::Kind::Flag) return field.text() == "true" ? "on" : "";
  return field.text();
}

std::string description(const Command& command, const Field& field) {
  std::string text(field.info.help);
  if (!field.choices.empty()) text += ": " + joined(field.choices, ", ");
  const std::string value = default_text(command, field);
  if (!value.empty()) text += " [" + value + "]";
  std::string also;
  for (const std::string& alias : aliases_of(field))
    if (alias.size() > 1) also += join_text(also.empty() ? "--" : ", --", alias);
  if (!also.empty()) text += " (also " + also + ")";
  return text;
}

std::string flag_lines(const Command& command, const Field& field) {
  const FlagText text = flag_text(command, field);
  std::string line = text.letter.empty() ? "      " : join_text("  -", text.letter, ", ");
  line += join_text(text.is_on ? "--[no-]" : "--", field.info.name, text.value.empty() ? "" : " ",
                    text.value);
  if (line.size() + 2 > kHelpColumn)
    line.append(1, '\n').append(kHelpColumn, ' ');
  else
    line.resize(kHelpColumn, ' ');
  return line + wrapped(text.description, kHelpColumn) + "\n";
}

std::string usage(std::string_view program, const Command& command) {
  std::string line = join_text("Usage: ", program, ' ', command.name, " [flags]");
  for (const std::string& name : command.positionals) {
    const Field* field = find_field(command.fields, name);
    const bool many = field != nullptr && field->kind == Field::Kind::List;
    line += " [" + name + (many ? "...]" : "]");
  }
  return line + "\n";
}

}  // namespace

FlagText flag_text(const Command& command, const Field& field) {
  return {letter_of(command, field), placeholder(field), description(command, field),
          field.kind == Field::Kind::Flag && field.text() == "true"};
}

std::string example_of(const Program& program, const std::vector<Command>& commands) {
  std::istringstream lines{std::string(program.example)};
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name >> name;
    if (std::ranges::any_of(commands, [&](const Command& command) { return command.name == name; }))
      text += line + '\n';
  }
  return text;
}

namespace {

/// What a command that has no flags does; "" for any other word.
std::string line_of_word(const Program& program, std::string_view word) {
  if (word == "completion")
    return wrapped(
        join_text(program.name,
                  " completion bash|zsh|fish writes a script that completes commands.\n"),
        0);
  if (word == "manual")
    return join_text(program.name, " manual [COMMAND] writes a page for man(1).\n");
  return "";
}

}  // namespace

std::string overview(const Program& program, const std::vector<Command>& commands) {
  std::string text = join_text(wrapped(join_text(program.name, ": ", program.summary), 0),
                               "\n\nUsage: ", program.name, " COMMAND [flags]\n\nCommands:\n");
  for (const Command& command : commands) {
    std::string line = "  " + command.name;
    line.resize(14, ' ');
    text += line + wrapped(command.summary, 14) + "\n";
  }
  return text +
         join_text("\nExample:\n", example_of(program, commands), '\n',
                   wrapped(join_text(program.name, " COMMAND --help shows all flags of a command, ",
                                     program.name, " --version the version."),
                           0),
                   '\n', program.name, " help COMMAND FLAG explains a flag.\n",
                   line_of_word(program, "completion"), line_of_word(program, "manual"));
}

std::string command_help(std::string_view program, const Command& command) {
  CommonConfig common;
  const std::vector<Field> fields = all_fields(command, common);
  std::string text = wrapped(join_text(program, ' ', command.name, ": ", command.summary), 0) +
                     "\n\n" + usage(program, command);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : command.examples)
    text += join_text("  ", program, ' ', example, '\n');

  for (const auto& [group, members] : groups_of(fields)) {
    text += join_text("\n", group.empty() ? "Flags" : group, ":\n");
    for (const Field* field : members) text += flag_lines(command, *field);
  }
  constexpr std::string_view kSpellings =
      "Long flags may have _ in place of -. Switches may also be written as --no-NAME or "
      "--NAME=false.";
  return text + join_text('\n', wrapped(kSpellings, 0),
                          "\nThe names of the flags are also the keys of the TOML file.\n");
}

namespace {

/// A flag's name as a list of fields has it: without dashes at its beginning.
std::string name_of_flag(const std::string& word) {
  return with_hyphens(word.substr(std::min(word.find_first_not_of('-'), word.size())));
}

/// Found by name, alias or letter, a switch also by no-NAME; null if the command has no such flag.
const Field* flag_called(const Command& command, const std::vector<Field>& fields,
                         const std::string& name) {
  const auto letter = command.short_flags.find(name);
  const Field* field =
      find_field(fields, letter == command.short_flags.end() ? name : letter->second);
  if (field != nullptr || !name.starts_with("no-")) return field;
  field = find_field(fields, name.substr(3));
  return field != nullptr && field->kind == Field::Kind::Flag ? field : nullptr;
}

/// The lines of command_help() for a flag, after the names of the commands that have it so; empty
/// if none has it.
std::string flag_of_any_command(const std::vector<Command>& commands, const std::string& word) {
  std::vector<std::pair<std::string, std::string>> found;  // lines, names of commands
  for (const Command& command : commands) {
    CommonConfig common;
    const std::vector<Field> fields = all_fields(command, common);
    const Field* field = flag_called(command, fields, name_of_flag(word));
    if (field == nullptr) continue;
    const std::string lines = flag_lines(command, *field);
    const auto same = std::ranges::find(found, lines, &std::pair<std::string, std::string>::first);
    if (same == found.end())
      found.emplace_back(lines, command.name);
    else
      same->second += ", " + command.name;
  }
  std::string text;
  for (const auto& [lines, names] : found)
    text += join_text(text.empty() ? "" : "\n", wrapped(names + ":", 0), '\n', lines);
  return text;
}

}  // namespace

std::string flags_help(const Command& command, const std::vector<std::string>& names) {
  CommonConfig common;
  const std::vector<Field> fields = all_fields(command, common);
  std::string text;
  for (const std::string& word : names) {
    const std::string name = name_of_flag(word);
    const Field* field = flag_called(command, fields, name);
    if (field == nullptr)
      throw UsageError(command.name, " has no flag --", name, suggestion(name, "--", fields));
    text += flag_lines(command, *field);
  }
  return text;
}

namespace {

enum ExitCode : int { kDone = 0, kFailed = 1, kMisused = 2, kDefect = 3 };
constexpr std::string_view kNoMemory =
    "not enough memory; a smaller model, smaller batches (train --max-tokens, translate "
    "--batch-size) or fewer --threads need less";

/// The buffer of std::cout: a failed write throws Error with its reason, or ClosedPipe if the
/// reader of a pipe has gone.
class StandardOutput : public std::streambuf {
 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    writer_.write({text, static_cast<std::size_t>(size)});
    return size;
  }
  int_type overflow(int_type c) override {
    if (c == traits_type::eof()) return 0;
    const char byte = traits_type::to_char_type(c);
    writer_.write({&byte, 1});
    return c;
  }
  int sync() override {
    writer_.flush();
    return 0;
  }

 private:
  LineWriter writer_{STDOUT_FILENO, "standard output"};
};

void install_standard_output() {
  // Never destroyed: std::cout is flushed after main's static objects have gone.
  static auto* const buffer = new StandardOutput;
  std::cout.rdbuf(buffer);
  std::cout.exceptions(std::ios::badbit);  // rethrows exceptions of the buffer
}

/// A standard stream that is closed would lend its number to the next file that is opened, and that
/// file would be read or written in its place. The file that is opened here instead fails in the
/// same way as a closed stream.
void hold_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)
      (void)!open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
}

/// Called before any thread exists: threads inherit the processor's modes.
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

/// What to write in place of a flag that stands before any command; "" if no command has the flag.
std::string flag_before_command_text(const Program& program, const std::vector<Command>& commands,
                                     const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const Command& command : commands) {
    CommonConfig common;
    const std::vector<Field> fields = all_fields(command, common);
    if (flag_called(command, fields, name_of_flag(flag)) != nullptr) names.push_back(command.name);
  }
  if (names.empty()) return "";
  const bool is_common = names.size() == commands.size();
  return join_text(flag, " is a flag of ", is_common ? "every command" : joined(names, ", "),
                   " and stands after the command: ", program.name, ' ', names.front(), ' ', flag);
}

/// Throws UsageError if no command has that name.
const Command& command_called(const Program& program, const std::vector<Command>& commands,
                              const std::string& name) {
  if (name.starts_with('-')) {
    if (const std::string text = flag_before_command_text(program, commands, name); !text.empty())
      throw UsageError(text);
    const std::vector<std::string> flags = {"help", "version"};
    throw UsageError("unknown flag ", name, suggestion(name_of_flag(name), "--", flags));
  }
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found != commands.end()) return *found;
  if (program.elsewhere != nullptr && std::ranges::count(program.elsewhere(), name) > 0)
    throw UsageError(name, " is a command of dragoman; ", program.name,
                     " has none that needs LibTorch");
  std::vector<std::string> names = {"help", "completion", "manual"};
  for (const Command& command : commands) names.push_back(command.name);
  throw UsageError("unknown command ", name, suggestion(name, "", names));
}

bool is_help(const std::string& word) { return word == "--help" || word == "-h"; }

bool is_flag(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

/// "help COMMAND FLAG" and "--help COMMAND FLAG" become "COMMAND --help FLAG", and a FLAG may have
/// its dashes: all words after the command are names of flags.
void put_help_after_command(std::vector<std::string>& arguments) {
  const auto asks_about_a_word = [&] {
    return is_help(arguments.front()) && arguments.size() > 1 && !is_help(arguments[1]);
  };
  while (arguments.front() == "help" || asks_about_a_word()) {
    arguments.erase(arguments.begin());
    std::erase_if(arguments, is_help);
    for (std::size_t i = 1; i < arguments.size(); ++i) arguments[i] = name_of_flag(arguments[i]);
    arguments.insert(arguments.begin() + (arguments.empty() ? 0 : 1), "--help");
  }
}

/// Takes the names of the flags that are to be explained out of the arguments of a command: the
/// words between --help and the next flag. If there are none, and only flags without values stand
/// there, these flags.
std::vector<std::string> take_names_after_help(std::vector<std::string>& arguments) {
  const auto values = std::ranges::find(arguments, "--");  // no flag stands after it
  const auto help = std::find_if(arguments.begin(), values, is_help);
  if (help == values) return {};
  auto end = std::find_if(help + 1, arguments.end(), is_flag);
  const auto is_name = [](const std::string& word) {
    return is_flag(word) && !is_help(word) && word.find('=') == word.npos;
  };
  if (end == help + 1 && std::all_of(end, arguments.end(), is_name)) end = arguments.end();
  std::vector<std::string> names(help + 1, end);
  arguments.erase(help + 1, end);
  return names;
}

/// Throws UsageError for a word after the first `known` ones, which would count for nothing.
void require_no_more(const std::vector<std::string>& arguments, std::size_t known) {
  if (arguments.size() > known) throw UsageError("unexpected argument '", arguments[known], "'");
}

/// What is no command with flags; empty if the words are such a command.
std::string text_for(const Program& program, const std::vector<std::string>& arguments) {
  const std::vector<Command>& commands = program.commands();
  const std::string& name = arguments.front();
  const std::string subject = arguments.size() > 1 ? arguments[1] : "";
  if (is_help(name) || (name == "--version" && is_help(subject))) {
    require_no_more(arguments, is_help(subject) ? 2 : 1);
    return overview(program, commands);
  }
  if (name == "--version") {
    require_no_more(arguments, 1);
    return version_text(program);
  }
  if (name == "completion" || name == "manual") {
    require_no_more(arguments, 2);
    if (is_help(subject)) return line_of_word(program, name);
    return name == "manual" ? manual_page(program, commands, subject)
                            : completion_script(program, commands, subject);
  }
  if (subject != "--help" || std::ranges::find(commands, name, &Command::name) != commands.end())
    return "";
  std::string text = flag_of_any_command(commands, name);
  if (!text.empty()) require_no_more(arguments, 2);
  return text;
}

int run(const Program& program, std::vector<std::string> arguments) {
  if (arguments.empty()) arguments = {"--help"};
  put_help_after_command(arguments);
  if (const std::string text = text_for(program, arguments); !text.empty()) {
    std::cout << text;
    return kDone;
  }
  const Command& command = command_called(program, program.commands(), arguments.front());
  arguments.erase(arguments.begin());
  const std::vector<std::string> names = take_names_after_help(arguments);
  const Call call = configure(program.name, command, arguments);
  if (call.common.help) {
    std::cout << (names.empty() ? command_help(program.name, command) : flags_help(command, names));
    return kDone;
  }
  if (program.before_run != nullptr) program.before_run(command);
  configure_log(call.common.log_format, call.common.quiet ? Verbosity::Quiet : Verbosity::Normal);
  for (const std::string& warning : call.warnings) log_warning(warning);
  const int code = with_typed_flags(call.typed, [&] { return command.run(call.invocation); });
  const auto signal = received_signal();
  return signal && !command.ends_by_signal ? 128 + *signal : code;
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

int report(const Program& program, int code, std::string_view text) {
  if (log_format() == LogFormat::Json) {
    log_error(text);
    return code;
  }
  const std::string shown = printable(text);
  const std::string line = join_text(program.name, ": error: ", shown);
  // A stream that lacks memory for its text ends early, without an exception.
  if (!line.ends_with(shown)) throw std::bad_alloc();
  Terminal::standard_error().write_line(line);
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

/// If a thread cannot start, the standard library throws an error that does not say so.
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

/// Whether a library has failed because the system gives no random numbers: LibTorch opens the
/// device, and the standard library names its own class.
bool lacks_random_numbers(std::string_view text) {
  return text.find("/dev/urandom") != text.npos || text.find("random_device") != text.npos;
}

/// Reports the exception that is being handled, and returns the exit code.
int report_failure(const Program& program, const std::vector<std::string>& arguments) {
  constexpr std::string_view kDefectText = "a defect of dragoman, please report it: ";
  try {
    throw;
  } catch (const ClosedPipe&) {
    return 128 + SIGPIPE;
  } catch (const UsageError& error) {
    return report_misuse(program, error.what(), arguments);
  } catch (const Error& error) {
    return report(program, kFailed, error.what());
  } catch (const std::system_error& error) {
    return report(program, kFailed, system_error_text(error));
  } catch (const std::exception& error) {
    if (is_out_of_memory(error))  // LibTorch's message quotes its own source
      return report(program, kFailed, kNoMemory);
    const std::string_view text = error.what();
    if (lacks_random_numbers(text))
      return report(program, kFailed,
                    "/dev/urandom: cannot be read, and random numbers come from there; in a "
                    "container or a chroot, mount /dev");
    return report(program, kDefect, join_text(kDefectText, text.substr(0, text.find('\n'))));
  } catch (...) {
    return report(program, kDefect, join_text(kDefectText, "an exception without a text"));
  }
}

}  // namespace

int run_program(const Program& program, int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    try {
      prepare_process();
      if (asks_for_json(arguments)) configure_log(LogFormat::Json, Verbosity::Normal);
      const int code = run(program, arguments);
      std::cout.flush();
      return code;
    } catch (...) {
      return report_failure(program, arguments);
    }
  } catch (const std::bad_alloc&) {  // too little memory to say what has failed
    constexpr std::string_view kText = "error: not enough memory\n";
    (void)!write(STDERR_FILENO, kText.data(), kText.size());
    return kFailed;
  }
}

}  // namespace dragoman
