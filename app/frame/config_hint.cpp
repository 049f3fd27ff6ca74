#include "app/frame/config_hint.h"

#include "app/frame/field_names.h"
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

/// A text in TOML's double quotes, or in single quotes where it has quotes or backslashes, as a
/// backslash begins an escape in double quotes.
std::string in_quotes(std::string_view text) {
  text = without_quotes(text);
  const char quote = text.find_first_of("\\\"") == std::string_view::npos ? '"' : '\'';
  return join_text(quote, text, quote);
}

std::string list_of(std::string_view value) {
  if (value.starts_with('[')) value.remove_prefix(1);
  if (value.ends_with(']')) value.remove_suffix(1);
  std::string list;
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    if (const auto text = strip(value.substr(0, comma)); !text.empty())
      list += (list.empty() ? "" : ", ") + in_quotes(text);
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
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

}  // namespace

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

}  // namespace dragoman
