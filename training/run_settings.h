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

#include "base/fields.h"
#include "training/progress_record.h"

namespace dragoman {

/// What is asked for to leave a value open.
inline constexpr const char* kAuto = "auto";

/// Belongs to the call, not to the run: a run folder may be moved or copied.
inline bool is_of_the_call(std::string_view field) { return field == "output"; }

/// The field of exactly this name; it must be there.
const Field& field_named(const std::vector<Field>& fields, std::string_view name);

class RunSettings {
 public:
  /// `fields` have the values that were asked for, and refer to what outlives the settings; of
  /// `start` what was asked for, and the reasons.
  RunSettings(std::vector<Field> fields, const SettingsRecord& start);

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

 private:
  using Texts = std::map<std::string, std::string, std::less<>>;

  std::vector<Field> fields_;
  Texts asked_, reasons_;                       // as in the record
  std::set<std::string, std::less<>> settled_;  // recalled or explained
};

}  // namespace dragoman
