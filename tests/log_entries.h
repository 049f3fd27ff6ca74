// What a run has written into its log, log.jsonl.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace dragoman {

/// The entries of the file, one a line.
inline std::vector<nlohmann::json> log_entries(const std::filesystem::path& log) {
  std::vector<nlohmann::json> entries;
  std::istringstream lines(read_file(log));
  for (std::string line; std::getline(lines, line);) entries.push_back(parse_json(line));
  return entries;
}

/// Those of one type.
inline std::vector<nlohmann::json> log_entries(const std::filesystem::path& log,
                                               std::string_view type) {
  auto entries = log_entries(log);
  std::erase_if(entries, [type](const nlohmann::json& entry) { return entry.at("type") != type; });
  return entries;
}

}  // namespace dragoman
