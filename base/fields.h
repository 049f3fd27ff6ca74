// The fields of a configuration struct, listed once and used for flags, TOML keys, the text in
// checkpoints, the log and --help.
//
// A configuration struct names its fields in a member template:
//
//   void for_each_field(const auto& visit) {
//     const auto field = fields_under("Batches", visit);
//     field("max-tokens", max_tokens, "...", {.aliases = "mini-batch-words"});
//   }
//
// and `fields_of(config)` turns that into a list of type-erased Field objects. Field types: bool,
// std::int64_t, double, std::string, std::vector<std::string>, and enums that have
// `constexpr std::array<std::string_view, n> names_of(E)` beside them (value = index).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace dragoman {

/// The name of an enum's value.
template <class E>
  requires std::is_enum_v<E>
constexpr std::string_view name_of(E value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The enum's value of that name, if there is one.
template <class E>
  requires std::is_enum_v<E>
constexpr std::optional<E> value_named(std::string_view name) {
  const auto names = names_of(E{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

/// The effect of a changed value when a run is resumed.
enum class OnResume {
  Refused,   ///< an error that names the flag: it would be another run
  Allowed,   ///< takes effect and is listed in the log (stopping, saving, logging)
  NotExact,  ///< takes effect with the warning "not bit-identical" (--device, --spike-factor)
};

struct FieldInfo {
  std::string_view name = "";     ///< flag without dashes and TOML key: "max-tokens"
  std::string_view help = "";     ///< one line, with unit and default if not obvious
  std::string_view group = "";    ///< heading in --help
  std::string_view aliases = "";  ///< other spellings, comma separated: "mini-batch-words,b"
  OnResume on_resume = OnResume::Refused;
  /// In --help; empty: by the field's kind. Values of FILE, FOLDER, PATH and CODE are checked.
  std::string_view placeholder = "";
};

/// Visits fields that stand below one heading in --help: field(name, value, help, more).
template <class Visit>
auto fields_under(std::string_view heading, const Visit& visit) {
  return [heading, &visit](std::string_view name, auto& value, std::string_view help,
                           FieldInfo more = {}) {
    more.name = name;
    more.help = help;
    more.group = heading;
    visit(more, value);
  };
}

struct Field {
  enum class Kind { Flag, Integer, Number, Text, Choice, List };

  FieldInfo info;
  Kind kind;
  std::vector<std::string_view> choices;             ///< of Kind::Choice
  std::function<std::vector<std::string>()> values;  ///< one text, or any number for Kind::List
  /// Throws UsageError naming the flag if a text cannot be parsed.
  std::function<void(const std::vector<std::string>&)> assign;

  std::string text() const;  ///< as text_of() writes the value
};

std::string text_of(bool value);
std::string text_of(std::int64_t value);
std::string text_of(double value);  ///< the shortest text that reads back as the same number
/// Joined by commas. Each comma and backslash of a text gets a backslash in front.
std::string text_of(const std::vector<std::string>& list);

/// Throw UsageError that names the flag. A whole number may have "_" between its digits, and "k"
/// (1,000) or "M" (1,000,000) at its end.
bool parse_flag(std::string_view flag, const std::string& text);
std::int64_t parse_integer(std::string_view flag, const std::string& text);
double parse_number(std::string_view flag, const std::string& text);
std::size_t parse_choice(std::string_view flag, const std::vector<std::string_view>& choices,
                         const std::string& text);

/// The candidate with the smallest edit distance to `word`; empty if none is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates);

namespace detail {

const std::string& single(std::string_view flag, const std::vector<std::string>& texts);

template <class T>
Field make_field(const FieldInfo& info, T& value) {
  Field field{.info = info, .kind = Field::Kind::Text, .choices = {}, .values = {}, .assign = {}};
  const std::string_view flag = info.name;
  T* target = &value;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    field.kind = Field::Kind::List;
    field.values = [target] { return *target; };
    field.assign = [target](const std::vector<std::string>& texts) { *target = texts; };
  } else if constexpr (std::is_same_v<T, std::string>) {
    field.values = [target] { return std::vector<std::string>{*target}; };
    field.assign = [=](const std::vector<std::string>& texts) { *target = single(flag, texts); };
  } else if constexpr (std::is_enum_v<T>) {
    field.kind = Field::Kind::Choice;
    for (std::string_view name : names_of(T{})) field.choices.push_back(name);
    field.values = [target] { return std::vector<std::string>{std::string(name_of(*target))}; };
    field.assign = [target, flag, choices = field.choices](const std::vector<std::string>& texts) {
      *target = static_cast<T>(parse_choice(flag, choices, single(flag, texts)));
    };
  } else {
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> ||
                  std::is_same_v<T, double>);
    field.values = [target] { return std::vector<std::string>{text_of(*target)}; };
    if constexpr (std::is_same_v<T, bool>) {
      field.kind = Field::Kind::Flag;
      field.assign = [=](const std::vector<std::string>& texts) {
        *target = parse_flag(flag, single(flag, texts));
      };
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      field.kind = Field::Kind::Integer;
      field.assign = [=](const std::vector<std::string>& texts) {
        *target = parse_integer(flag, single(flag, texts));
      };
    } else {
      field.kind = Field::Kind::Number;
      field.assign = [=](const std::vector<std::string>& texts) {
        *target = parse_number(flag, single(flag, texts));
      };
    }
  }
  return field;
}

}  // namespace detail

/// The fields of configurations in their order. They refer to these, which must outlive them.
template <class... Configs>
std::vector<Field> fields_of(Configs&... configs) {
  std::vector<Field> fields;
  const auto add = [&fields](const FieldInfo& info, auto& value) {
    fields.push_back(detail::make_field(info, value));
  };
  (configs.for_each_field(add), ...);
  return fields;
}

/// The texts that Field::text() has joined. For a field that is not a list, the text itself.
std::vector<std::string> texts_of(const Field& field, const std::string& text);
void assign_text(const Field& field, const std::string& text);

/// Every field's text, by name.
std::map<std::string, std::string> configuration_of(const std::vector<Field>& fields);

}  // namespace dragoman
