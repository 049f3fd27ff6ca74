#include "extras/formats/json_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr std::uintmax_t kLargestJson = 64 << 20;

nlohmann::json parse_json(const std::filesystem::path& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) throw Error(path.string(), ": cannot be read: ", failure.message());
  if (size > kLargestJson)
    throw Error(path.string(), ": has ", size >> 20, " MiB, too many for a JSON file");
  const std::string text = read_file(path);
  try {
    return nlohmann::json::parse(text, check_json_depth<nlohmann::json>);
  } catch (const nlohmann::json::exception&) {
    throw Error(path.string(), ": is not valid JSON");
  } catch (const Error& error) {
    throw Error(path.string(), ": ", error.what());
  }
}

}  // namespace

JsonFile::JsonFile(std::filesystem::path path)
    : path_(std::move(path)), json_(std::make_unique<nlohmann::json>(parse_json(path_))) {
  if (!json_->is_object()) throw Error(path_.string(), ": is not a JSON object");
}

JsonFile::JsonFile(JsonFile&&) noexcept = default;
JsonFile::~JsonFile() = default;

const nlohmann::json* JsonFile::find(std::string_view key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

bool JsonFile::has(std::string_view key) const { return find(key) != nullptr; }

std::int64_t JsonFile::integer(std::string_view key) const {
  if (!has(key)) throw Error(path_.string(), ": has no \"", key, "\"");
  return integer(key, 0);
}

std::int64_t JsonFile::integer(std::string_view key, std::int64_t otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number_integer()) throw Error(place(key), " is not a whole number");
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    throw Error(place(key), " is too large");
  return value->get<std::int64_t>();
}

double JsonFile::number(std::string_view key, double otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) throw Error(place(key), " is not a number");
  return value->get<double>();
}

bool JsonFile::flag(std::string_view key, bool otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) throw Error(place(key), " is not true or false");
  return value->get<bool>();
}

std::string JsonFile::text(std::string_view key, std::string_view otherwise) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) throw Error(place(key), " is not a text");
  return value->get<std::string>();
}

void JsonFile::require(std::string_view key, bool is_it, std::string_view what) const {
  if (!is_it) throw Error(place(key), ": ", what);
}

const nlohmann::json& JsonFile::all() const { return *json_; }

std::string JsonFile::place(std::string_view key) const {
  return join_text(path_.string(), ": \"", key, "\"");
}

namespace {

[[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) {
  throw Error("line ", mark.line + 1, ": ", what);
}

/// The most bytes of the name of a nested map, which is copied to each name in it.
constexpr std::size_t kMaxPrefix = 4096;

class MapHandler : public YAML::EventHandler {
 public:
  /// `deepest`: how deep maps may be nested.
  explicit MapHandler(std::size_t deepest) : deepest_(deepest) {}

  std::vector<YamlEntry> entries;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (state_ == State::Value && prefixes_.size() <= deepest_) {
      if (entries.back().name.size() > kMaxPrefix) fail(mark, "a map whose name is too long");
      prefixes_.push_back(entries.back().name + ".");
      entries.pop_back();
    } else if (state_ == State::Before) {
      prefixes_.emplace_back();
    } else {
      fail(mark, "a map within the map");
    }
    state_ = State::Name;
  }
  void OnMapEnd() override {
    prefixes_.pop_back();
    state_ = prefixes_.empty() ? State::After : State::Name;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    if (state_ != State::Value) fail(mark, "a list that is no value of a map of names");
    entries.back().is_list = true;
    state_ = State::Item;
  }
  void OnSequenceEnd() override { state_ = State::Name; }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(mark, "~"); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { fail(mark, "an alias (*)"); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    add(mark, value);
  }
  bool is_complete() const { return state_ == State::After; }

 private:
  enum class State { Before, Name, Value, Item, After };

  void add(const YAML::Mark& mark, const std::string& value) {
    // yaml-cpp turns the escapes \N and \_ into single bytes.
    if (find_invalid_utf8(value) != value.npos) fail(mark, "an escape that makes no UTF-8");
    switch (state_) {
      case State::Before:
      case State::After:
        fail(mark, "not a map of names");
      case State::Name:
        entries.push_back(
            {prefixes_.back() + value, static_cast<std::size_t>(mark.line) + 1, false, {}});
        state_ = State::Value;
        return;
      case State::Value:
        state_ = State::Name;
        [[fallthrough]];
      case State::Item:
        entries.back().values.push_back(value);
    }
  }

  State state_ = State::Before;
  std::size_t deepest_;
  std::vector<std::string> prefixes_;  ///< for the names in each open map
};

std::vector<YamlEntry> parse_yaml(std::string_view text, std::size_t deepest) {
  if (const auto offset = find_invalid_utf8(text); offset != text.npos)
    throw Error("byte ", offset, ": invalid UTF-8");
  std::istringstream stream{std::string(text)};
  MapHandler handler(deepest);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(handler) || !handler.is_complete())
      throw Error("not a map of names");
    MapHandler second(deepest);
    if (parser.HandleNextDocument(second)) throw Error("more than one document");
  } catch (const YAML::Exception& error) {
    fail(error.mark, error.msg);
  }
  return std::move(handler.entries);
}

}  // namespace

std::vector<YamlEntry> parse_yaml_map(std::string_view text) { return parse_yaml(text, 0); }

std::vector<YamlEntry> parse_yaml_settings(std::string_view text) {
  constexpr std::size_t kDeepest = 8;
  return parse_yaml(text, kDeepest);
}

}  // namespace dragoman
