// The pages of a program for man(1), in the macros of man(7).
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/frame/flag_names.h"
#include "app/frame/program.h"
#include "base/error.h"

namespace dragoman {

namespace {

/// Text as roff reads it: a hyphen stays one that can be copied, and no line is a request.
std::string roff(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\(rs";
    else
      result += c == '-' ? "\\-" : std::string(1, c);
    at_start = c == '\n';
  }
  return result;
}

std::string bold(std::string_view text) { return join_text("\\fB", roff(text), "\\fR"); }
std::string italic(std::string_view text) { return join_text("\\fI", roff(text), "\\fR"); }

std::string heading(std::string_view page, std::string_view summary) {
  std::string title(page);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  return join_text(".TH ", roff(title), " 1 \"\" \"dragoman ", DRAGOMAN_VERSION,
                   "\" \"User Commands\"\n.SH NAME\n", roff(page), " \\- ", roff(summary), "\n");
}

std::string verbatim(std::string_view title, std::string_view lines) {
  return join_text(".SH ", title, "\n.nf\n", roff(lines), ".fi\n");
}

std::string flag_entry(const Command& command, const Field& field) {
  const FlagText text = flag_text(command, field);
  std::string entry = ".TP\n";
  if (!text.letter.empty()) entry += bold("-" + text.letter) + ", ";
  entry += bold(join_text(text.is_on ? "--[no-]" : "--", field.info.name));
  if (!text.value.empty()) entry += ' ' + italic(text.value);
  return entry + '\n' + roff(text.description) + '\n';
}

constexpr std::string_view kExitCodes =
    ".SH EXIT STATUS\n"
    "0: done; 1: a fault of the data, a file or the machine; 2: a fault of the command line or "
    "the\n"
    "configuration; 3: a defect of the program; 128 + n: stopped by signal n.\n";

std::string command_page(const Program& program, const Command& command) {
  const std::string page = join_text(program.name, '-', command.name);
  std::string text = heading(page, command.summary) + ".SH SYNOPSIS\n" +
                     bold(join_text(program.name, ' ', command.name)) + " [flags]";
  for (const std::string& name : command.positionals) text += " [" + italic(name) + "]";
  text +=
      "\n.SH OPTIONS\n"
      "Long flags may have _ in place of \\-. Switches may also be written as \\-\\-no\\-NAME or\n"
      "\\-\\-NAME=false. The names of the flags are also the keys of the TOML file.\n";
  CommonConfig common;
  const std::vector<Field> fields = all_fields(command, common);
  for (const auto& [group, members] : groups_of(fields)) {
    text += join_text(".SS ", group.empty() ? "Flags" : roff(group), '\n');
    for (const Field* field : members) text += flag_entry(command, *field);
  }
  std::string examples;
  for (const std::string& example : command.examples)
    examples += join_text(program.name, ' ', example, '\n');
  if (!examples.empty()) text += verbatim("EXAMPLES", examples);
  return text + join_text(kExitCodes, ".SH SEE ALSO\n", bold(program.name), "(1)\n");
}

std::string program_page(const Program& program, const std::vector<Command>& commands) {
  std::string summary(program.summary);
  if (summary.ends_with('.')) summary.pop_back();
  std::string text = heading(program.name, summary) + ".SH SYNOPSIS\n" + bold(program.name) + " " +
                     italic("COMMAND") + " [flags]\n.SH COMMANDS\n";
  std::string pages;
  for (const Command& command : commands) {
    text += join_text(".TP\n", bold(command.name), '\n', roff(command.summary), '\n');
    pages += join_text(pages.empty() ? "" : ",\n", bold(join_text(program.name, '-', command.name)),
                       "(1)");
  }
  for (const auto& [word, summary_of_word] :
       {std::pair("help [COMMAND]", "shows the flags of a command"),
        std::pair("completion SHELL",
                  "writes the script that completes commands in bash, zsh or fish"),
        std::pair("manual [COMMAND]", "writes this page, or that of a command")})
    text += join_text(".TP\n", bold(word), '\n', roff(summary_of_word), '\n');
  text += verbatim("EXAMPLE", example_of(program, commands));
  return text + join_text(kExitCodes, ".SH SEE ALSO\n", pages, '\n');
}

}  // namespace

std::string manual_page(const Program& program, const std::vector<Command>& commands,
                        const std::string& command) {
  if (command.empty()) return program_page(program, commands);
  std::vector<std::string> names;
  for (const Command& known : commands) {
    if (known.name == command) return command_page(program, known);
    names.push_back(known.name);
  }
  throw UsageError("manual: unknown command ", command, suggestion(command, "", names));
}

}  // namespace dragoman
