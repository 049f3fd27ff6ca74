// The options that another system's model was made with, whatever kind of file has them: texts by
// name, which become numbers and switches where they are asked for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

struct PickleValue;

class ForeignOptions {
 public:
  /// A list has several values or none. "~" stands for no value.
  using Values = std::map<std::string, std::vector<std::string>>;

  /// `file` is for messages.
  ForeignOptions(std::string file, Values values)
      : file_(std::move(file)), values_(std::move(values)) {}

  const std::string& file() const { return file_; }
  /// "FILE: NAME", with which messages about an option begin.
  std::string place(const std::string& name) const { return file_ + ": " + name; }
  /// Whether it has a value.
  bool has(const std::string& name) const;
  /// A missing value is `otherwise`. Throws Error, naming file and option, for a value of another
  /// type. Switches are written as YAML has them: true, True, yes, on.
  std::string text(const std::string& name, const std::string& otherwise) const;
  double number(const std::string& name, double otherwise) const;
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
  bool flag(const std::string& name, bool otherwise) const;
  std::vector<std::string> list(const std::string& name) const;

  /// Throws Error "FILE: NAME: WHAT" unless `is_it`.
  void require(const std::string& name, bool is_it, std::string_view what) const;

 private:
  std::string file_;
  Values values_;
};

/// Of a YAML text that is one map (parse_yaml_map).
ForeignOptions yaml_options(const std::string& file, std::string_view text);

/// Of a YAML text with maps within the map: names are joined by '.' (parse_yaml_settings).
ForeignOptions yaml_settings(const std::string& file, std::string_view text);

/// Of a dict or an object with attributes (argparse.Namespace) in a pickle; names within another
/// one are joined by '.'. A value of a class that is not known here is the text "an object of
/// CLASS". Throws Error where they are nested more than 8 deep, or have more than 100,000 entries
/// or 64 MiB.
ForeignOptions pickled_options(const std::string& file, const PickleValue& value);

}  // namespace dragoman
