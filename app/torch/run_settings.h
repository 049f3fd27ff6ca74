// The settings of a run: what a person asked for, and what became of it.
//
// A flag or a line of --config asks for a value, or for "auto", which leaves the value open as
// saying nothing does. What is open is settled once:
//   recall()   a run that goes on takes what its checkpoint remembers
//   choose()   the data, the device or a measurement decide; the reason is kept
// or keeps what it has, the default or the preset's. Both what was asked for and what became of it
// travel in the progress record. config.toml of the run asks for the former again, so that another
// run chooses anew, and shows the latter in comments.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command.h"
#include "training/progress_record.h"

namespace dragoman {

/// What is asked for to leave a value open.
inline constexpr const char* kAuto = "auto";

/// Makes a field take "auto" beside its values: it then keeps the value that it has.
void accept_auto(Field& field);

class RunSettings {
 public:
  /// `fields` have the values of the command line, where it gave any, and refer to what outlives
  /// the settings.
  RunSettings(std::vector<Field> fields, const Invocation& invocation);

  /// Whether the value may still be chosen: none was asked for, recalled or chosen.
  bool is_open(std::string_view name) const;
  /// Whether "auto" was asked for by name, now or when the run was started.
  bool asks_auto(std::string_view name) const;
  /// Whether a value was.
  bool asks_value(std::string_view name) const;

  /// Gives a field its value, unless it is not open. The reason is for people: "29,000 pairs".
  void choose(std::string_view name, const std::string& value, const std::string& reason);
  /// Gives every open field the value that its namesake has; it stays open. The reason is of those
  /// whose value changes.
  void take_defaults(const std::vector<Field>& defaults, const std::string& reason);
  /// Says why a field has its value, and settles it.
  void explain(std::string_view name, const std::string& reason);
  /// Gives every open field what is remembered for it, and settles it.
  void recall(const SettingsRecord& remembered);

  /// For the progress record.
  SettingsRecord record() const;
  /// The text of config.toml.
  std::string to_toml() const;

 private:
  const Field& field(std::string_view name) const;
  std::string line_of(const Field& field) const;

  std::vector<Field> fields_;
  std::map<std::string, std::string, std::less<>> asked_, reasons_;  // as in the record
  std::set<std::string, std::less<>> settled_;                       // recalled or explained
};

}  // namespace dragoman
