// The record of the files that a command has made in a folder. By it the command replaces its own
// files and no other: neither a file of the user, nor its own file that the user has changed since.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The record is a file of the folder with a line for each file: "hash name".
class MadeFiles {
 public:
  /// Reads the record of that name; without one, nothing was made. Throws Error if the file is
  /// something else.
  MadeFiles(std::filesystem::path folder, const std::string& record);

  /// Whether the folder has no file of that name, or one with a text that was made.
  bool may_replace(const std::string& name) const;

  /// Adds a text that file `name` will have, beside the earlier ones.
  void add(const std::string& name, std::string_view text);
  /// Replaces what is known of these files by their texts in the folder. Files that are not there
  /// are left out.
  void take(const std::vector<std::string>& names);
  /// Writes the record.
  void write() const;

 private:
  std::filesystem::path folder_, record_;
  std::set<std::string> lines_;
};

}  // namespace dragoman
