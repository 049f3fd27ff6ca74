#include "app/frame/help.h"

#include <algorithm>
#include <sstream>

#include "app/frame/command_line.h"
#include "app/frame/field_names.h"

namespace dragoman {

namespace {

constexpr std::size_t kColumns = 96;
constexpr std::size_t kHelpColumn = 34;

/// `text` broken at spaces into columns [indent, kColumns); the first line has no indent.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > indent && column + 1 + word.size() > kColumns) {
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
    return join_text(" ", given, field.kind == Field::Kind::List ? "..." : "");
  switch (field.kind) {
    case Field::Kind::Flag:
      return "";
    case Field::Kind::Integer:
      return " N";
    case Field::Kind::Number:
      return " X";
    case Field::Kind::Choice:
      return " NAME";
    case Field::Kind::List:
      return " TEXT...";
    default:
      return " TEXT";
  }
}

std::string letter_of(const Command& command, const Field& field) {
  if (field.info.name == "help") return "h";
  if (field.info.name == "config") return "c";
  for (const auto& [letter, name] : command.short_flags)
    if (name == field.info.name) return letter;
  for (const std::string& alias : aliases_of(field))
    if (alias.size() == 1) return alias;
  return "";
}

/// The field's default value; "" where there is none to show.
std::string default_text(const Command& command, const Field& field) {
  if (std::find(command.automatic.begin(), command.automatic.end(), field.info.name) !=
      command.automatic.end())
    return "auto";
  if (field.kind == Field::Kind::Flag) return field.text() == "true" ? "on" : "";
  return field.text();
}

std::string description(const Command& command, const Field& field) {
  std::string text(field.info.help);
  if (!field.choices.empty()) {
    text += ": ";
    for (std::size_t i = 0; i < field.choices.size(); ++i)
      text += join_text(i == 0 ? "" : ", ", field.choices[i]);
  }
  const std::string value = default_text(command, field);
  if (!value.empty()) text += " [" + value + "]";
  std::string also;
  for (const std::string& alias : aliases_of(field))
    if (alias.size() > 1) also += join_text(also.empty() ? "--" : ", --", alias);
  if (!also.empty()) text += " (also " + also + ")";
  return text;
}

std::string flag_lines(const Command& command, const Field& field) {
  const std::string letter = letter_of(command, field);
  const bool on = field.kind == Field::Kind::Flag && field.text() == "true";
  std::string line = letter.empty() ? "      " : join_text("  -", letter, ", ");
  line += join_text(on ? "--[no-]" : "--", field.info.name, placeholder(field));
  if (line.size() + 2 > kHelpColumn)
    line.append(1, '\n').append(kHelpColumn, ' ');
  else
    line.resize(kHelpColumn, ' ');
  return line + wrapped(description(command, field), kHelpColumn) + "\n";
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

/// The lines of the program's example whose commands it has: an extra may not be built.
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

}  // namespace

std::string overview(const Program& program, const std::vector<Command>& commands) {
  std::string text = join_text(program.name, ": ", program.summary, "\n\nUsage: ", program.name,
                               " COMMAND [flags]\n\nCommands:\n");
  for (const Command& command : commands) {
    std::string line = "  " + command.name;
    line.resize(14, ' ');
    text += line + wrapped(command.summary, 14) + "\n";
  }
  return text + join_text("\nExample:\n", example_of(program, commands), '\n', program.name,
                          " COMMAND --help shows all flags of a command, ", program.name,
                          " --version the version.\n");
}

std::string command_help(std::string_view program, const Command& command) {
  CommonConfig common;
  std::vector<Field> fields = command.fields;
  for (Field& field : fields_of(common)) fields.push_back(std::move(field));

  std::string text = wrapped(join_text(program, ' ', command.name, ": ", command.summary), 0) +
                     "\n\n" + usage(program, command);
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const std::string& example : command.examples)
    text += join_text("  ", program, ' ', example, '\n');

  for (const auto& [group, members] : groups_of(fields)) {
    text += join_text("\n", group.empty() ? "Flags" : group, ":\n");
    for (const Field* field : members) text += flag_lines(command, *field);
  }
  text +=
      "\nLong flags may have _ in place of -. Switches may also be written as --no-NAME or "
      "--NAME=false."
      "\nThe names of the flags are also the keys of the TOML file.\n";
  return text;
}

}  // namespace dragoman
