// YAML files that are one map of names to scalars or lists of scalars: Marian's vocabularies and
// the text in its models, and, with maps within the map, JoeyNMT's settings. Parsed with yaml-cpp,
// event by event, so that lines are known and a file of any depth is refused at a known one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct YamlEntry {
  std::string name;
  std::size_t line = 0;  ///< from 1
  bool is_list = false;
  std::vector<std::string> values;  ///< one for a scalar
};

/// In the order of the text. Throws Error without a file's name, with the line, for what is no such
/// map: nested further, aliases, a second document, text that is not UTF-8, and whatever yaml-cpp
/// refuses. A name may occur twice here; yaml_options() refuses that.
std::vector<YamlEntry> parse_yaml_map(std::string_view text);

/// The same, of a map that may have maps in it, 8 deep: their names are joined by '.', as in
/// "model.encoder.num_layers". An empty map has no entry.
std::vector<YamlEntry> parse_yaml_settings(std::string_view text);

}  // namespace dragoman
