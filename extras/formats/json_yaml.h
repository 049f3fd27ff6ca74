// JSON and YAML files of other systems, read without trust.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A file whose content is one JSON object.
class JsonFile {
 public:
  /// Throws Error if the file is missing, larger than 64 MiB, nested more than 64 deep, no JSON or
  /// no object.
  explicit JsonFile(std::filesystem::path path);
  JsonFile(JsonFile&&) noexcept;
  ~JsonFile();

  bool has(std::string_view key) const;  ///< and it is not null
  /// Each throws Error that names file and key if the value is missing or of another type. With
  /// `otherwise`, that is returned for a missing value.
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  /// Throws Error that names file and key unless `is_it`.
  void require(std::string_view key, bool is_it, std::string_view what) const;
  const nlohmann::json& all() const;
  const std::filesystem::path& path() const { return path_; }
  /// "FILE: "KEY"", the beginning of messages about a key.
  std::string place(std::string_view key) const;

 private:
  const nlohmann::json* find(std::string_view key) const;

  std::filesystem::path path_;
  std::unique_ptr<nlohmann::json> json_;
};

/// An entry of a YAML text that is one map of names to scalars or lists of scalars: Marian's
/// vocabularies and the text in its models, and, with maps within the map, JoeyNMT's settings.
struct YamlEntry {
  std::string name;
  std::size_t line = 0;  ///< from 1
  bool is_list = false;
  std::vector<std::string> values;  ///< one for a scalar
};

/// The entries in the order of the text. Throws Error without a file's name, with the line, for
/// anything but such a map: deeper nesting, aliases, a second document, text that is not UTF-8, and
/// whatever yaml-cpp refuses. A name may occur twice here; yaml_options() refuses that.
std::vector<YamlEntry> parse_yaml_map(std::string_view text);

/// The entries of a map that may contain maps, up to 8 deep: their names are joined by '.', as in
/// "model.encoder.num_layers". An empty map has no entry.
std::vector<YamlEntry> parse_yaml_settings(std::string_view text);

}  // namespace dragoman
