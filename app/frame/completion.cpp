// The scripts by which bash, zsh and fish complete a program's command lines. Bash: "Programmable
// Completion" of its manual; zsh: _arguments and _describe of zshcompsys(1); fish: complete(1).
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/program.h"
#include "base/error.h"
#include "base/formatted_text.h"

namespace dragoman {

namespace {

constexpr std::string_view kShells = "bash zsh fish";

/// What a shell needs to know of a command.
struct CompletedFlag {
  std::vector<std::string> names = {};  ///< with dashes; the long name comes last
  std::string help;                     ///< short
  std::string value;                    ///< its name; empty for a switch
  std::string choices;                  ///< separated by spaces; beside them there may be files
  bool is_file = false;
  bool is_list = false;
};
struct CompletedCommand {
  std::string name, summary;
  std::vector<CompletedFlag> flags = {};
  std::string choices = {};  ///< of a positional that is a choice
};

bool names_file(std::string_view value) {
  return value.find("FILE") != value.npos || value.find("FOLDER") != value.npos;
}

/// The fixed values among those of a placeholder: "safe strict" of "safe|strict|FILE".
std::string fixed_values(std::string_view placeholder) {
  std::string values;
  if (placeholder.find('|') == placeholder.npos) return values;
  for (std::size_t begin = 0; begin < placeholder.size();) {
    const std::size_t end = std::min(placeholder.find('|', begin), placeholder.size());
    const std::string_view value = placeholder.substr(begin, end - begin);
    if (!names_file(value)) values.append(values.empty() ? "" : " ").append(value);
    begin = end + 1;
  }
  return values;
}

CompletedFlag completed(const Command& command, const Field& field) {
  const FlagText text = flag_text(command, field);
  CompletedFlag flag{.help = std::string(field.info.help.substr(0, field.info.help.find(';'))),
                     .value = text.value,
                     .choices = field.choices.empty() ? fixed_values(field.info.placeholder)
                                                      : joined(field.choices, " "),
                     .is_file = names_file(text.value),
                     .is_list = field.kind == Field::Kind::List};
  if (!text.letter.empty()) flag.names.push_back("-" + text.letter);
  flag.names.push_back(join_text(text.is_on ? "--no-" : "--", field.info.name));
  return flag;
}

std::vector<CompletedCommand> completed(const std::vector<Command>& commands) {
  std::vector<CompletedCommand> result;
  for (const Command& command : commands) {
    CompletedCommand entry{.name = command.name, .summary = command.summary};
    CommonConfig common;
    for (const Field& field : all_fields(command, common)) {
      entry.flags.push_back(completed(command, field));
      if (std::ranges::count(command.positionals, field.info.name) > 0)
        entry.choices += joined(field.choices, " ");
    }
    result.push_back(std::move(entry));
  }
  const std::string names = joined(commands, " ", &Command::name);
  result.push_back({"help", "show the flags of a command", {}, names});
  result.push_back({"manual", "write a manual page for man(1)", {}, names});
  result.push_back({"completion", "write the script for a shell", {}, std::string(kShells)});
  return result;
}

std::string opening(std::string_view program, std::string_view shell) {
  return join_text("# Completion for ", shell, ", made by: ", program, " completion ", shell, '\n');
}

// ---- bash ----

/// The words after a flag that has values, as branches of "case $before".
std::string bash_values(const CompletedCommand& command) {
  std::string text, files, others;
  for (const CompletedFlag& flag : command.flags) {
    const std::string names = joined(flag.names, " | ");
    if (!flag.choices.empty())
      text += join_text("          ", names, ") words=\"", flag.choices, "\" ;;\n");
    else if (!flag.value.empty())
      (flag.is_file || flag.is_list ? files : others) += join_text(" | ", names);
  }
  if (!others.empty())
    text += join_text("          ", others.substr(3), ") compopt +o default; return ;;\n");
  if (!files.empty()) text += join_text("          ", files.substr(3), ") return ;;\n");
  if (!command.choices.empty())
    text += join_text("          *) words=\"", command.choices, "\" ;;\n");
  return text.empty() ? "" : join_text("        case $before in\n", text, "        esac\n");
}

std::string bash_script(std::string_view program, const std::vector<CompletedCommand>& commands) {
  std::string function = join_text("_", program);
  std::ranges::replace(function, '-', '_');
  std::string names, branches;
  for (const CompletedCommand& command : commands) {
    names += command.name + ' ';
    const std::string flags = joined(
        command.flags, " ", [](const CompletedFlag& flag) { return joined(flag.names, " "); });
    branches += join_text("      ", command.name, ")\n        flags=\"", flags, "\"\n",
                          bash_values(command), "        ;;\n");
  }
  // Readline splits --flag=value into three words.
  return join_text(opening(program, "bash"), function, "() {\n",
                   R"(  local word=${COMP_WORDS[COMP_CWORD]}
  local before=${COMP_WORDS[COMP_CWORD - 1]} flags= words=
  COMPREPLY=()
  if [ "$word" = "=" ]; then word=; fi
  if [ "$before" = "=" ]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [ "$COMP_CWORD" = 1 ]; then
    words=")",
                   names, R"(--help --version"
  else
    case ${COMP_WORDS[1]} in
)",
                   branches, R"(    esac
    if [[ $word == -* ]]; then words=$flags; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F )",
                   function, ' ', program, '\n');
}

// ---- zsh ----

/// The text in single quotes, with backslashes before the characters `special`.
std::string quoted(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != special.npos) result += '\\';
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result;
}

std::string zsh_flag(const CompletedFlag& flag) {
  std::string lines;
  for (std::size_t i = 0; i < flag.names.size(); ++i) {
    const std::string& name = flag.names[i];
    lines += "        '";
    if (flag.is_list)
      lines += '*';
    else if (flag.names.size() > 1)
      lines += join_text("(", flag.names[1 - i], ")");
    lines += name + (name.starts_with("--") && !flag.value.empty() ? "=" : "");
    lines += join_text("[", quoted(flag.help, "[]\\"), "]");
    if (!flag.value.empty()) lines += join_text(":", quoted(flag.value, ":\\"), ":");
    if (!flag.choices.empty() && flag.is_file)
      lines += join_text("{compadd ", flag.choices, "; _files}");
    else if (!flag.choices.empty())
      lines += join_text("(", flag.choices, ")");
    else if (flag.is_file || flag.is_list)
      lines += "_files";
    lines += "' \\\n";
  }
  return lines;
}

std::string zsh_script(std::string_view program, const std::vector<CompletedCommand>& commands) {
  const std::string function = join_text("_", program);  // also the name of its file
  std::string names, branches;
  for (const CompletedCommand& command : commands) {
    names += join_text("      '", command.name, ':', quoted(command.summary, "\\"), "'\n");
    branches += join_text("    ", command.name, ")\n      _arguments -s -S \\\n");
    for (const CompletedFlag& flag : command.flags) branches += zsh_flag(flag);
    branches += command.choices.empty() ? "        '*:file:_files' ;;\n"
                                        : "        '*:name:(" + command.choices + ")' ;;\n";
  }
  return join_text("#compdef ", program, '\n', opening(program, "zsh"), function, R"(() {
  if (( CURRENT == 2 )); then
    local -a commands=(
)",
                   names, R"(    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
)",
                   branches, "  esac\n}\nif [ \"$funcstack[1]\" = ", function, " ]; then ",
                   function, " \"$@\"; else compdef ", function, ' ', program, "; fi\n");
}

// ---- fish ----

std::string fish_script(std::string_view program, const std::vector<CompletedCommand>& commands) {
  const std::string begin = join_text("complete -c ", program, " -n '__fish_");
  std::string text = opening(program, "fish");
  for (const CompletedCommand& command : commands) {
    text += join_text(begin, "use_subcommand' -f -a ", command.name, " -d ",
                      shell_word(command.summary), '\n');
    const std::string seen = join_text(begin, "seen_subcommand_from ", command.name, "'");
    for (const CompletedFlag& flag : command.flags) {
      text += seen;
      for (const std::string& name : flag.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!flag.value.empty()) text += flag.is_file || flag.is_list ? " -r" : " -x";
      if (!flag.choices.empty()) text += join_text(" -a '", flag.choices, "'");
      text += join_text(" -d ", shell_word(flag.help), '\n');
    }
    if (!command.choices.empty()) text += join_text(seen, " -f -a '", command.choices, "'\n");
  }
  return text;
}

}  // namespace

std::string completion_script(const Program& program, const std::vector<Command>& commands,
                              const std::string& shell) {
  const std::vector<CompletedCommand> all = completed(commands);
  if (shell == "bash") return bash_script(program.name, all);
  if (shell == "zsh") return zsh_script(program.name, all);
  if (shell == "fish") return fish_script(program.name, all);
  throw UsageError("completion is for bash, zsh or fish, not for '", shell, "'");
}

}  // namespace dragoman
