#include "app/frame/config_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "app/frame/flag_names.h"
#include "base/files.h"
#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr std::string_view kQuotes = "\"'";

struct Line {
  std::string_view key, value;
  bool has_equals;
};

/// The parts of "key = value" or "key: value", without a comment. The value is empty for other
/// lines.
Line parts_of(std::string_view line) {
  const std::size_t equals = line.find('=');
  const bool has_equals = equals != std::string_view::npos;
  const std::size_t between = has_equals ? equals : line.find(':');
  if (between == std::string_view::npos) return {};
  std::string_view value = strip(line.substr(between + 1));
  if (!value.empty() && kQuotes.find(value.front()) == std::string_view::npos)
    value = strip(value.substr(0, value.find('#')));
  else if (!value.empty() && value.rfind(value.front()) > 0)
    value = value.substr(0, value.rfind(value.front()) + 1);
  return {strip(line.substr(0, between)), value, has_equals};
}

std::string_view without_quotes(std::string_view text) {
  if (!text.empty() && kQuotes.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  if (!text.empty() && kQuotes.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}

/// A text in TOML's double quotes. If it has quotes or backslashes, it is in single quotes: within
/// double quotes a backslash begins an escape.
std::string in_quotes(std::string_view text) {
  text = without_quotes(text);
  const char quote = text.find_first_of("\\\"") == std::string_view::npos ? '"' : '\'';
  return join_text(quote, text, quote);
}

std::string list_of(std::string_view value) {
  if (value.starts_with('[')) value.remove_prefix(1);
  if (value.ends_with(']')) value.remove_suffix(1);
  std::string list;
  for (const std::string_view part : split_at(value, ','))
    if (const auto text = strip(part); !text.empty())
      list += (list.empty() ? "" : ", ") + in_quotes(text);
  return "[" + list + "]";
}

/// "10k" as a number of TOML.
std::string number_of(std::string_view value) {
  try {
    return text_of(parse_integer("", std::string(value)));
  } catch (const UsageError&) {
    return std::string(value);
  }
}

/// The right text in place of the value.
std::string right_value(std::string_view value, const Field* field) {
  if (value == "True") return "true";
  if (value == "False") return "false";
  if (kQuotes.find(value.front()) != std::string_view::npos)
    return value.find('\\') == std::string_view::npos ? std::string(value) : in_quotes(value);
  constexpr std::string_view kOthers = "[{+-0123456789";  // no bare word begins with these
  if (field == nullptr)
    return kOthers.find(value.front()) == std::string_view::npos ? in_quotes(value)
                                                                 : std::string(value);
  switch (field->kind) {
    case Field::Kind::List:
      return value.starts_with('[') ? list_of(value) : in_quotes(value);
    case Field::Kind::Integer:
      return number_of(value);
    case Field::Kind::Text:
    case Field::Kind::Choice:
      return in_quotes(value);
    case Field::Kind::Flag:
      if (value == "yes" || value == "on") return "true";
      if (value == "no" || value == "off") return "false";
      [[fallthrough]];
    default:
      return std::string(value);
  }
}

/// A hint such as `; texts stand in quotes: max-time = "30s"` for a line that is not TOML; ""
/// without a hint. The line must be UTF-8.
std::string config_hint(std::string_view line, const std::vector<Field>& fields) {
  const Line parts = parts_of(line);
  if (parts.key.empty() || parts.value.empty()) return "";
  const std::string right = right_value(parts.value, find_field(fields, parts.key));
  if (right == parts.value && parts.has_equals) return "";
  const std::string text = join_text(parts.key, " = ", right);
  if (parts.value == "True" || parts.value == "False")
    return "; true and false have small letters: " + text;
  if (parts.value.starts_with('[') && !parts.value.ends_with(']'))
    return "; a list ends with a bracket: " + text;
  if (!parts.has_equals) return "; key and value are joined by =: " + text;
  if (right.find('\\') != std::string::npos)
    return "; with a backslash texts stand in single quotes: " + text;
  const bool is_text = right.find_first_of(kQuotes) != std::string::npos;
  return (is_text ? "; texts stand in quotes: " : "; write ") + text;
}

/// By Field::Kind.
constexpr const char* kExpectedTypes[] = {
    "true or false",      "a whole number",     "a number",
    "a string in quotes", "a string in quotes", "a string, a number or an array of them"};

bool fits(const toml::node& node, Field::Kind kind) {
  const toml::node_type type = node.type();
  const bool is_auto = node.is_string() && node.as_string()->get() == "auto";
  switch (kind) {
    case Field::Kind::Flag:
      return type == toml::node_type::boolean;
    case Field::Kind::Integer:
      return type == toml::node_type::integer || is_auto;
    case Field::Kind::Number:
      return type == toml::node_type::integer || type == toml::node_type::floating_point || is_auto;
    case Field::Kind::List:
      return type == toml::node_type::string || type == toml::node_type::integer ||
             type == toml::node_type::floating_point;
    default:
      return type == toml::node_type::string;
  }
}

/// The text of a value; "" for a table or an array.
std::string text_of_node(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return text_of(flag->get());
  if (const auto* integer = node.as_integer()) return text_of(integer->get());
  if (const auto* number = node.as_floating_point()) return text_of(number->get());
  if (const auto* text = node.as_string()) return bytes_of_utf8(text->get());
  std::ostringstream text;
  if (const auto* date = node.as_date()) text << date->get();
  if (const auto* time = node.as_time()) text << time->get();
  if (const auto* date_time = node.as_date_time()) text << date_time->get();
  return text.str();
}

void collect_settings(const toml::table& table, std::map<std::string, std::string>& settings) {
  for (const auto& [key, node] : table) {
    if (const toml::table* group = node.as_table()) {
      collect_settings(*group, settings);
      continue;
    }
    std::string text;
    if (const toml::array* array = node.as_array()) {
      for (const toml::node& element : *array)
        if (element.is_value()) text += (text.empty() ? "" : ", ") + text_of_node(element);
    } else {
      text = text_of_node(node);
    }
    settings[std::string(key.str())] = text;
  }
}

std::string_view line_of(std::string_view text, toml::source_index line) {
  for (; line > 1 && !text.empty(); --line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

/// `fields` are for hints.
toml::table parse_toml(std::string_view text, const std::string& name,
                       const std::vector<Field>& fields) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    if (const auto ending = std::filesystem::path(name).extension();
        ending == ".yaml" || ending == ".yml")
      throw UsageError(name, ": is YAML; a configuration is TOML here, with lines like ",
                       "max-updates = 1000 and preset = \"tiny\"");
    const auto line = error.source().begin.line;
    throw UsageError(name, ":", line, ": ", error.description(),
                     find_invalid_utf8(text) == std::string_view::npos
                         ? config_hint(line_of(text, line), fields)
                         : "");
  }
}

class ConfigReader {
 public:
  ConfigReader(const std::filesystem::path& path, const std::vector<Field>& fields)
      : name_(path.string()), fields_(fields) {}

  void read_table(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (const toml::table* group = node.as_table())
        read_table(*group);
      else
        read_key(key.str(), place_of(key.source().begin.line), node);
    }
  }

  std::map<std::string, ConfigValue> values;

 private:
  std::string place_of(toml::source_index line) const { return join_text(name_, ":", line); }

  void read_key(std::string_view key, const std::string& place, const toml::node& node) {
    const Field* field = find_field(fields_, key);
    if (field == nullptr)
      throw UsageError(place, ": unknown key '", key, "'", suggestion(key, "", fields_));
    ConfigValue value{.texts = {}, .place = place};
    const toml::array* array = node.as_array();
    if (array != nullptr && field->kind == Field::Kind::List) {
      for (const toml::node& element : *array) add_text(*field, key, element, value);
    } else {
      add_text(*field, key, node, value);
    }
    if (!values.emplace(field->info.name, value).second)
      throw UsageError(place, ": '", key, "' is given twice");
  }

  void add_text(const Field& field, std::string_view key, const toml::node& node,
                ConfigValue& value) const {
    if (!fits(node, field.kind))
      throw UsageError(value.place, ": '", key, "' must be ",
                       kExpectedTypes[static_cast<std::size_t>(field.kind)]);
    value.texts.push_back(text_of_node(node));
  }

  std::string name_;
  const std::vector<Field>& fields_;
};

std::string toml_string(std::string_view text) {
  std::string toml = "\"";
  for (const char c : utf8_of_bytes(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      toml += '\\';
      toml += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      toml += escape;
    } else {
      toml += c;
    }
  }
  return toml + "\"";
}

}  // namespace

std::string toml_value(Field::Kind kind, const std::vector<std::string>& texts) {
  switch (kind) {
    case Field::Kind::Flag:
    case Field::Kind::Integer:
    case Field::Kind::Number:
      return texts.front();
    case Field::Kind::List:
      return "[" + joined(texts, ", ", toml_string) + "]";
    default:
      return toml_string(texts.front());
  }
}

std::map<std::string, ConfigValue> read_config(const std::filesystem::path& path,
                                               const std::vector<Field>& fields) {
  ConfigReader reader(path, fields);
  reader.read_table(parse_toml(read_file(path), path.string(), fields));
  return std::move(reader.values);
}

std::map<std::string, std::string> parse_config(std::string_view toml, const std::string& name) {
  std::map<std::string, std::string> settings;
  collect_settings(parse_toml(toml, name, {}), settings);
  return settings;
}

std::string grouped_lines(const std::vector<Field>& fields,
                          const std::function<std::string(const Field&)>& lines_of) {
  std::string toml;
  for (const auto& [group, members] : groups_of(fields)) {
    if (!toml.empty()) toml += "\n";
    if (!group.empty()) toml += join_text("# ---- ", group, "\n\n");
    for (const Field* field : members) toml += lines_of(*field);
  }
  return toml;
}

std::string config_text(const std::vector<Field>& fields) {
  return grouped_lines(fields, [](const Field& field) {
    std::string lines = join_text("# ", field.info.help, "\n");
    if (!field.choices.empty()) lines += "# one of " + joined(field.choices, " ") + "\n";
    return lines + join_text(field.info.name, " = ", toml_value(field.kind, field.values()), "\n");
  });
}

}  // namespace dragoman
