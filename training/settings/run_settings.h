// The settings of a run (RunSettings), which its checkpoints remember: their values, those that a
// person asked for, and the rules by which a value that nobody asked for is settled.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "data/data_config.h"
#include "model/file/model_config.h"
#include "tokenizer/train_tokenizer.h"
#include "training/settings/progress_record.h"
#include "training/settings/train_config.h"

namespace dragoman {

/// The text that leaves a value open.
inline constexpr const char* kAuto = "auto";

/// Whether a field belongs to the call, not to the run: a run folder may be moved or copied.
inline bool is_of_the_call(std::string_view field) { return field == "output"; }

/// Whether each host may have its own value of a field.
inline bool is_of_the_host(std::string_view field) {
  return field == "output" || field == "threads" || field == "device";
}

/// The field of exactly this name; it must be there.
const Field& field_named(const std::vector<Field>& fields, std::string_view name);

/// A flag or a line of --config asks for a value. A value that is not given, or given as "auto", is
/// open. An open value is settled once:
///   recall()   a resumed run takes the value from its checkpoint
///   choose()   the data, the device or a measurement decide; the reason is recorded
///   keep()     the value that it has is right, for a reason that is recorded
/// Otherwise it keeps its value, the default or the preset's. The progress record has both kinds of
/// settings. config.toml of the run asks for the first kind again, so that another run chooses for
/// itself, and shows the second kind in comments.
struct RunSettings {
  TrainConfig train = {};
  ModelConfig model = {};
  DataConfig data = {};
  TokenizerConfig tokenizer = {};

  std::map<std::string, std::string> asked = {};  ///< fields that were asked for: text, or "auto"
  std::map<std::string, std::string> reasons =
      {};                              ///< of values that nobody asked for: "29,000 pairs"
  std::set<std::string> settled = {};  ///< fields recalled, chosen or kept

  /// The preset's values, and the defaults of the rest.
  static RunSettings from_preset(Preset preset);

  /// All fields of the four configurations; they refer to this object.
  std::vector<Field> fields();
  /// Throws UsageError naming the flag.
  void check() const;

  /// Whether a value was asked for, now or when the run was started.
  bool asks_value(const std::string& name) const;
  /// Whether "auto" was asked for by name, now or when the run was started.
  bool asks_auto(const std::string& name) const;
  /// Whether the value may still be chosen: none was asked for, recalled or chosen.
  bool is_open(const std::string& name) const;

  /// Gives a field its value, unless it is not open.
  void choose(const std::string& name, const std::string& value, const std::string& reason);
  /// Settles a field at the value that it has.
  void keep(const std::string& name, const std::string& reason);
  /// Gives every open field the preset's value. It stays open.
  void take_preset(Preset preset);
  /// Gives every open field its remembered value, and settles it.
  void recall(const StartRecord& remembered);

  /// For the progress record: the values, those asked for, and the reasons.
  StartRecord record() const;
};

}  // namespace dragoman
