#include "extras/formats/foreign_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "base/fields.h"
#include "base/utf8.h"
#include "extras/formats/pickle_value.h"
#include "extras/formats/yaml_map.h"

namespace dragoman {

namespace {

constexpr int kMaxOptionDepth = 8;
constexpr std::size_t kMaxOptions = 100'000;
constexpr std::size_t kMaxBytes = std::size_t{1} << 26;  // of names and values, all together
constexpr const char* kNone = "~";

/// The text of a value that is no container.
std::string pickled_text(const PickleValue& value) {
  if (value.as<PickleNone>() != nullptr) return kNone;
  if (const bool* flag = value.as<bool>()) return text_of(*flag);
  if (const std::int64_t* number = value.integer()) return text_of(*number);
  if (const double* number = value.as<double>()) return text_of(*number);
  if (const std::string* text = value.text()) return *text;
  if (const auto* global = value.as<PickleGlobal>()) return std::string(global->name);
  const PickleObject* object = value.object();
  const auto* type =
      object == nullptr || object->type == nullptr ? nullptr : object->type->as<PickleGlobal>();
  return type == nullptr ? "a value without a text" : join_text("an object of ", type->name);
}

class OptionFlattener {
 public:
  ForeignOptions::Values values;

  void walk(const PickleDict& dict, const std::string& prefix, int depth) {
    if (depth > kMaxOptionDepth)
      throw Error("options are nested more than ", kMaxOptionDepth, " deep");
    for (const auto& [key, value] : dict.entries) {
      if (++entries_ > kMaxOptions) throw Error("more than ", kMaxOptions, " options");
      const std::string* name = key->text();
      if (name == nullptr) continue;
      count(prefix.size() + name->size());
      add(prefix + *name, *value, depth);
    }
  }
  /// Whether the value has entries or attributes.
  bool walk_into(const PickleValue& value, const std::string& prefix, int depth) {
    if (const auto* dict = value.as<PickleDict>()) {
      walk(*dict, prefix, depth);
      return true;
    }
    const PickleObject* object = value.object();
    const auto* attributes =
        object == nullptr || object->state == nullptr ? nullptr : object->state->as<PickleDict>();
    if (attributes != nullptr) walk(*attributes, prefix, depth);
    return attributes != nullptr;
  }

 private:
  void add(const std::string& name, const PickleValue& value, int depth) {
    if (const auto* sequence = value.as<PickleSequence>()) {
      std::vector<std::string>& list = values[name];
      entries_ += sequence->items.size();
      if (entries_ > kMaxOptions) throw Error("more than ", kMaxOptions, " options");
      for (const PickleValue* item : sequence->items) list.push_back(counted(*item));
    } else if (!walk_into(value, name + ".", depth + 1)) {
      values[name] = {counted(value)};
    }
  }

  /// A value may stand at many places of a pickle, and here is copied to each.
  void count(std::size_t bytes) {
    if (bytes > kMaxBytes - bytes_) throw Error("the options have more than ", kMaxBytes, " bytes");
    bytes_ += bytes;
  }
  std::string counted(const PickleValue& value) {
    if (const std::string* text = value.text()) count(text->size());
    return pickled_text(value);
  }

  std::size_t entries_ = 0, bytes_ = 0;
};

/// What `read` returns. Its errors get the file's name.
template <class Read>
ForeignOptions naming(const std::string& file, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(file, ": ", error.what());
  }
}

ForeignOptions options_of(const std::string& file, std::vector<YamlEntry> entries) {
  ForeignOptions::Values values;
  for (YamlEntry& entry : entries)
    if (!values.emplace(entry.name, std::move(entry.values)).second)
      throw Error("line ", entry.line, ": ", entry.name, ": occurs twice");
  return {file, std::move(values)};
}

}  // namespace

bool ForeignOptions::has(const std::string& name) const {
  const auto found = values_.find(name);
  return found != values_.end() && !found->second.empty() && found->second.front() != kNone;
}

std::string ForeignOptions::text(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return otherwise;
  if (found->second.size() != 1) throw Error(file_, ": ", name, ": is not one value");
  const std::string& value = found->second.front();
  return value == kNone || value == "null" ? otherwise : value;
}

double ForeignOptions::number(const std::string& name, double otherwise) const {
  const std::string value = text(name, "");
  if (value.empty()) return otherwise;
  double number = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code != std::errc{} || end != value.data() + value.size() || !std::isfinite(number))
    throw Error(file_, ": ", name, ": ", value, " is not a number");
  return number;
}

std::int64_t ForeignOptions::integer(const std::string& name, std::int64_t otherwise) const {
  const double value = number(name, static_cast<double>(otherwise));
  if (value != std::floor(value) || std::abs(value) > 1e15)
    throw Error(file_, ": ", name, ": is not a whole number");
  return static_cast<std::int64_t>(value);
}

bool ForeignOptions::flag(const std::string& name, bool otherwise) const {
  const std::string value = text(name, text_of(otherwise)), small = ascii_lower(value);
  const auto is_one_of = [&small](std::initializer_list<const char*> words) {
    return std::ranges::find(words, small) != words.end();
  };
  if (is_one_of({"true", "yes", "on"})) return true;
  if (is_one_of({"false", "no", "off"})) return false;
  throw Error(file_, ": ", name, ": ", value, " is neither true nor false");
}

std::vector<std::string> ForeignOptions::list(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

void ForeignOptions::require(const std::string& name, bool is_it, std::string_view what) const {
  if (!is_it) throw Error(file_, ": ", name, ": ", what);
}

ForeignOptions yaml_options(const std::string& file, std::string_view text) {
  return naming(file, [&] { return options_of(file, parse_yaml_map(text)); });
}

ForeignOptions yaml_settings(const std::string& file, std::string_view text) {
  return naming(file, [&] { return options_of(file, parse_yaml_settings(text)); });
}

ForeignOptions pickled_options(const std::string& file, const PickleValue& value) {
  return naming(file, [&] {
    OptionFlattener flattener;
    if (!flattener.walk_into(value, "", 0)) throw Error("the options are ", pickled_text(value));
    return ForeignOptions(file, std::move(flattener.values));
  });
}

}  // namespace dragoman
