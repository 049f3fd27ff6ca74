#include "extras/formats/json_yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/utf8.h"

namespace dragoman {

nlohmann::json read_json_object(const std::filesystem::path& path) {
  constexpr std::uintmax_t kLargest = 64 << 20;
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) throw Error(path.string(), ": cannot be read: ", failure.message());
  if (size > kLargest)
    throw Error(path.string(), ": has ", size >> 20, " MiB, too many for a JSON file");
  const std::string text = read_file(path);
  try {
    nlohmann::json json = parse_json(text);
    if (json.is_object()) return json;
  } catch (const nlohmann::json::exception&) {
    throw Error(path.string(), ": is not valid JSON");
  } catch (const Error& error) {
    throw Error(path.string(), ": ", error.what());
  }
  throw Error(path.string(), ": is not a JSON object");
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
    if (state_ != State::Value) fail(mark, "a list that is not a value of a map of names");
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
    if (find_invalid_utf8(value) != value.npos) fail(mark, "an escape that does not make UTF-8");
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
