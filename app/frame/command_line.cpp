#include "app/frame/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "app/frame/config_file.h"
#include "app/frame/flag_names.h"
#include "base/formatted_text.h"
#include "base/language_codes.h"

namespace dragoman {

namespace {

// CLI11 takes an empty value for a missing one, "[SEP]" for a list and "-5" for a flag. Such values
// get this byte in front, which is removed after the parse.
constexpr char kVerbatim = '\x01';

std::string verbatim(std::string_view value) {
  const bool negative = value.size() > 1 && value[0] == '-' && std::strchr("0123456789.", value[1]);
  const bool misread = value.empty() || value.front() == '[' || value == "{}" || negative;
  return misread ? kVerbatim + std::string(value) : std::string(value);
}

bool is_long_flag(std::string_view argument) {
  return argument.size() > 2 && argument.starts_with("--");
}

std::string shown_flag(std::string_view name) {
  return join_text(name.size() == 1 ? "-" : "--", name);
}

/// "-b" and "--beam-size" -> the field; null for values, flags with `=` and unknown ones.
const Field* flag_without_value(const Command& command, const std::vector<Field>& fields,
                                const std::string& argument) {
  if (is_long_flag(argument)) return find_field(fields, argument.substr(2));
  if (argument.size() != 2 || argument[0] != '-') return nullptr;
  const std::string letter = argument.substr(1);
  const auto found = command.short_flags.find(letter);
  return find_field(fields, found == command.short_flags.end() ? letter : found->second);
}

/// The arguments with hyphens in flags, marks on values that CLI11 would misread, and a value for
/// each flag that must have one.
std::vector<std::string> normalized(const Command& command, const std::vector<Field>& fields,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      result.push_back(argument);
      while (++i < arguments.size()) result.push_back(verbatim(arguments[i]));
      break;
    }
    if (!is_long_flag(argument)) {
      result.push_back(verbatim(argument));
    } else if (const std::size_t equals = argument.find('='); equals != std::string::npos) {
      result.push_back(with_hyphens(argument.substr(0, equals)) + "=" +
                       verbatim(argument.substr(equals + 1)));
    } else {
      result.push_back(with_hyphens(argument));
    }
    const Field* field = flag_without_value(command, fields, argument);
    if (field == nullptr || field->kind == Field::Kind::Flag) continue;
    if (i + 1 == arguments.size() || is_long_flag(arguments[i + 1]))
      throw UsageError("--", field->info.name, ": needs a value");
  }
  return result;
}

/// "-b,--beam-size,--beam"; a switch also has "!--no-...", a positional also "beam-size".
std::string cli11_names(const Command& command, const Field& field) {
  std::vector<std::string> names = {std::string(field.info.name)};
  for (const std::string& alias : aliases_of(field)) names.push_back(alias);
  for (const auto& [letter, name] : command.short_flags)
    if (name == field.info.name && std::find(names.begin(), names.end(), letter) == names.end())
      names.push_back(letter);
  std::string list;
  for (const std::string& name : names) {
    list += (list.empty() ? "" : ",") + shown_flag(name);
    if (field.kind == Field::Kind::Flag && name.size() > 1) list += ",!--no-" + name;
  }
  const auto& positionals = command.positionals;
  if (std::find(positionals.begin(), positionals.end(), field.info.name) != positionals.end())
    list += join_text(",", field.info.name);
  return list;
}

CLI::Option* add_option(CLI::App& app, const Command& command, const Field& field) {
  const std::string names = cli11_names(command, field);
  if (field.kind == Field::Kind::Flag) return app.add_flag(names);
  CLI::Option* option = app.add_option(names, [](const CLI::results_t&) { return true; });
  if (field.kind == Field::Kind::List)
    return option->expected(1, CLI::detail::expected_max_vector_size)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args();
  return option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

std::string unknown_flag_text(const Command& command, const std::vector<Field>& fields,
                              const std::string& flag) {
  std::string foreign = foreign_flag_text(command.name, flag);
  if (!foreign.empty()) return foreign;
  const std::string name = flag.substr(is_long_flag(flag) ? 2 : 1);
  return flag + (name.size() > 1 ? suggestion(name, "--", fields) : "");
}

[[noreturn]] void refuse_flags(const Command& command, const std::vector<Field>& fields,
                               const std::vector<std::string>& flags) {
  const std::string first = unknown_flag_text(command, fields, flags.front());
  if (flags.size() == 1)
    throw UsageError(first.starts_with(flags[0] + " is ") ? "" : "unknown flag ", first);
  std::string text = counted(static_cast<std::int64_t>(flags.size()), "unknown flag") + ":";
  for (std::size_t i = 0; i < flags.size(); ++i)
    text += join_text(" (", i + 1, ") ", unknown_flag_text(command, fields, flags[i]));
  throw UsageError(text);
}

bool is_model(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(std::filesystem::path(path) / "model.safetensors", none) ||
         (path.ends_with(".safetensors") && std::filesystem::exists(path, none));
}

/// "--src": the flag that has taken the word before `extra` and takes no other; "" if none has.
std::string flag_before(const Command& command, const std::vector<Field>& fields,
                        const std::vector<std::string>& arguments, const std::string& extra) {
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    if (arguments[i] != extra) continue;
    const Field* field = flag_without_value(command, fields, arguments[i - 2]);
    if (field != nullptr && field->kind != Field::Kind::Flag && field->kind != Field::Kind::List)
      return arguments[i - 2];
  }
  return "";
}

/// Throws UsageError for words that belong to no field.
[[noreturn]] void refuse(const Command& command, const std::vector<Field>& fields,
                         const std::vector<std::string>& arguments,
                         const std::vector<std::string>& extras) {
  std::vector<std::string> flags;
  for (const std::string& extra : extras) {
    const std::string flag = extra.substr(0, extra.find('='));
    if (flag.size() > 1 && flag[0] == '-' && std::ranges::find(flags, flag) == flags.end())
      flags.push_back(flag);
  }
  if (!flags.empty()) refuse_flags(command, fields, flags);
  const std::string& extra = extras.front();
  std::string meant;
  if (const std::string flag = flag_before(command, fields, arguments, extra); !flag.empty())
    meant = join_text("; ", flag, " takes one value");
  else if (find_field(fields, "model") != nullptr && is_model(extra))
    meant = join_text("; did you mean -m ", extra, '?');
  else if (const Field* input = find_field(fields, "input"))
    meant = join_text("; did you mean --", input->info.name, ' ', extra, '?');
  throw UsageError("unexpected argument '", extra, "'", meant);
}

std::vector<std::string> without_marks(std::vector<std::string> texts) {
  for (std::string& text : texts)
    if (text.starts_with(kVerbatim)) text.erase(0, 1);
  return texts;
}

/// Whether the field is a choice that may be left open: it takes "auto", which is not in its list.
bool takes_auto(const Field& field) {
  try {
    field.assign({"auto"});
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

/// Gives the field its value. An error names every value that the field takes.
void assign(const Field& field, const std::vector<std::string>& texts) {
  if (field.info.placeholder == "CODE")
    for (const std::string& text : texts) check_language_code(field.info.name, text);
  try {
    field.assign(texts);
  } catch (const UsageError& error) {
    const bool lists_auto =
        std::count(field.choices.begin(), field.choices.end(), std::string_view("auto")) > 0;
    if (field.kind != Field::Kind::Choice || lists_auto || !takes_auto(field)) throw;
    std::string text = error.what();
    const std::string_view last = field.choices.back();
    if (const std::size_t at = text.find(join_text(", ", last)); at != std::string::npos)
      text.insert(at + 2 + last.size(), ", auto");
    throw UsageError(text);
  }
}

void assign_at(const Field& field, const ConfigValue& value) {
  try {
    assign(field, value.texts);
  } catch (const UsageError& error) {
    throw UsageError(value.place, ": ", error.what());
  }
}

/// A warning if different values were given to a field that takes one; otherwise empty.
std::string warning_of_several(const Field& field, const std::vector<std::string>& texts) {
  std::string others;
  for (std::size_t i = 0; i + 1 < texts.size(); ++i)
    if (texts[i] != texts.back()) others += (others.empty() ? "" : ", ") + texts[i];
  if (others.empty()) return "";
  const std::string times =
      texts.size() == 2 ? "twice" : counted(static_cast<std::int64_t>(texts.size()), "time");
  return join_text("--", field.info.name, " is given ", times,
                   "; the last one counts: ", texts.back(), " (not ", others, ")");
}

Aliases typed_aliases(const std::vector<Field>& fields, const std::vector<std::string>& arguments) {
  Aliases typed;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (!is_long_flag(argument)) continue;
    const std::string name = with_hyphens(argument.substr(2, argument.find('=') - 2));
    if (const Field* field = find_field(fields, name)) typed[std::string(field->info.name)] = name;
  }
  std::erase_if(typed, [](const auto& entry) { return entry.first == entry.second; });
  return typed;
}

Origins origins_of(const std::vector<Field>& fields,
                   const std::map<std::string, std::string>& defaults,
                   const std::map<std::string, ConfigValue>& file, const GivenValues& flags) {
  Origins origins;
  for (const Field& field : fields) {
    const std::string name(field.info.name);
    if (flags.contains(name))
      origins[name] = Origin::CommandLine;
    else if (file.contains(name))
      origins[name] = Origin::ConfigFile;
    else
      origins[name] = field.text() == defaults.at(name) ? Origin::Default : Origin::Preset;
  }
  return origins;
}

std::string command_line(std::string_view program, const Command& command,
                         const std::vector<std::string>& arguments) {
  std::string line = join_text(program, ' ', command.name);
  for (const std::string& argument : arguments) line += ' ' + shell_word(argument);
  return line;
}

struct Flags {
  GivenValues given;  ///< any number of texts for a list, otherwise one
  std::vector<std::string> warnings;
};

/// A switch without a value has the text "true", and `--no-x` gives "false".
Flags parse(const Command& command, const std::vector<Field>& fields,
            const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag("");
  app.allow_extras();
  std::vector<CLI::Option*> options;
  // Positionals come first and in their own order, as CLI11 fills them in that order.
  std::vector<const Field*> ordered;
  for (const std::string& name : command.positionals) {
    ordered.push_back(find_field(fields, name));
    if (ordered.back() == nullptr) throw std::logic_error("no field for the positional " + name);
  }
  for (const Field& field : fields)
    if (std::find(ordered.begin(), ordered.end(), &field) == ordered.end())
      ordered.push_back(&field);
  for (const Field* field : ordered) options.push_back(add_option(app, command, *field));
  try {
    std::vector<std::string> words = normalized(command, fields, arguments);
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  Flags flags;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::vector<std::string> texts = without_marks(options[i]->results());
    if (texts.empty()) continue;
    if (ordered[i]->kind != Field::Kind::List) {
      if (std::string warning = warning_of_several(*ordered[i], texts); !warning.empty())
        flags.warnings.push_back(std::move(warning));
      texts.erase(texts.begin(), texts.end() - 1);
    }
    flags.given.emplace(ordered[i]->info.name, std::move(texts));
  }
  std::vector<std::string> extras = without_marks(app.remaining());
  std::erase(extras, "--");  // CLI11 lists the mark itself
  if (!extras.empty() && !flags.given.contains("help")) refuse(command, fields, arguments, extras);
  return flags;
}

/// Replaces the values of a choice that have another spelling here.
void take_foreign_values(const std::vector<Field>& fields, const std::string& name,
                         std::vector<std::string>& texts) {
  const Field* field = find_field(fields, name);
  if (field == nullptr || field->kind != Field::Kind::Choice) return;
  for (std::string& text : texts)
    if (std::ranges::find(field->choices, text) == field->choices.end())
      text = value_here(name, text);
}

/// Throws UsageError for the name of a file or folder that is empty, as an unset variable of the
/// shell leaves it.
void refuse_empty_names(const Field& field, const std::vector<std::string>& texts) {
  const auto names = [&field](const char* what) {
    return field.info.placeholder.find(what) != std::string_view::npos;
  };
  const auto empty = std::ranges::find(texts, "");
  if (!(names("FILE") || names("FOLDER") || names("PATH")) || empty == texts.end()) return;
  throw UsageError("--", field.info.name, ": the name",
                   empty == texts.begin() ? "" : " after " + *std::prev(empty),
                   " is empty; is it a variable of the shell that has no value?");
}

/// Assigns the given values; a flag's value overrides the file's. An empty name takes back the one
/// in the file.
void assign_given(const std::vector<Field>& fields, const GivenValues& flags,
                  const std::map<std::string, ConfigValue>& file) {
  for (const Field& field : fields) {
    const std::string name(field.info.name);
    const auto flag = flags.find(name);
    const auto line = file.find(name);
    if (flag != flags.end() && line == file.end()) refuse_empty_names(field, flag->second);
    if (flag != flags.end())
      assign(field, flag->second);
    else if (line != file.end())
      assign_at(field, line->second);
  }
}

}  // namespace

std::vector<Field> all_fields(const Command& command, CommonConfig& common) {
  std::vector<Field> fields = command.fields;
  for (Field& field : fields_of(common)) fields.push_back(std::move(field));
  return fields;
}

std::string with_typed_flag(const std::string& message, const Aliases& typed) {
  const std::size_t end = std::min(message.find_first_of(": "), message.size());
  if (!message.starts_with("--")) return message;
  const auto found = typed.find(message.substr(2, end - 2));
  if (found == typed.end()) return message;
  return join_text("--", found->second, " (here ", message.substr(0, end), ")",
                   message.substr(end));
}

Call configure(std::string_view program, const Command& command,
               const std::vector<std::string>& arguments) {
  Call call;
  const std::vector<Field> fields = all_fields(command, call.common);
  Flags parsed = parse(command, fields, arguments);
  GivenValues& flags = parsed.given;
  call.warnings = std::move(parsed.warnings);
  call.typed = typed_aliases(fields, arguments);
  with_typed_flags(call.typed, [&] {
    for (auto& [name, texts] : flags) take_foreign_values(fields, name, texts);
  });
  const auto defaults = configuration_of(fields);
  if (flags.contains("help")) {
    if (command.prepare) command.prepare(flags);
    call.common.help = true;
    return call;
  }

  std::map<std::string, ConfigValue> file;
  if (const auto config = flags.find("config"); config != flags.end()) {
    std::vector<Field> keys = fields;
    std::erase_if(keys, [](const Field& field) {
      return field.info.name == "config" || field.info.name == "help";
    });
    file = read_config(config->second.back(), keys);
    for (auto& [name, value] : file) take_foreign_values(fields, name, value.texts);
  }
  GivenValues given = flags;
  for (const auto& [name, value] : file) given.emplace(name, value.texts);
  if (command.prepare) command.prepare(given);

  call.invocation = {command_line(program, command, arguments),
                     origins_of(fields, defaults, file, flags), given};
  with_typed_flags(call.typed, [&] { assign_given(fields, flags, file); });
  return call;
}

}  // namespace dragoman
