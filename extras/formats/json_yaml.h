// JSON and YAML files of other systems, which are not trusted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The object that a JSON file is. Throws Error if the file is missing, larger than 64 MiB, nested
/// more than 64 deep, not JSON or not an object.
nlohmann::json read_json_object(const std::filesystem::path& path);

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
