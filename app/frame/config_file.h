// Configuration files: TOML with the flags' names as keys. Tables may group keys, but mean nothing.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

struct ConfigValue {
  std::vector<std::string> texts;  ///< for Field::assign()
  std::string place;               ///< "run.toml:12", for messages
};

/// The values that the file gives, by field name. Throws UsageError naming file, line and key if
/// the file is not TOML, a key is unknown or given twice, or a value has another type than its
/// field ("auto" stands for a number, too); Error if the file cannot be read.
std::map<std::string, ConfigValue> read_config(const std::filesystem::path& path,
                                               const std::vector<Field>& fields);

/// All keys and values of a file's text, also unknown ones. Values of lists are joined by commas.
/// Throws UsageError that names the file and the line if the text is not TOML.
std::map<std::string, std::string> parse_config(std::string_view toml, const std::string& name);

/// A value in TOML, from any number of texts for a list, and otherwise from one.
std::string toml_value(Field::Kind kind, const std::vector<std::string>& texts);

/// The lines of every field under the headings of their groups.
std::string grouped_lines(const std::vector<Field>& fields,
                          const std::function<std::string(const Field&)>& lines_of);

/// Every field with its value, grouped, under its help text. read_config() reads the same values
/// back.
std::string config_text(const std::vector<Field>& fields);

}  // namespace dragoman
