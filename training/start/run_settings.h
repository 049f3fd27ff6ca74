// The configuration of a run (RunConfig), and the rules by which a value that nobody asked for is
// settled (RunSettings).
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
#include "training/progress_record.h"
#include "training/train_config.h"

namespace dragoman {

/// The configuration of a run, which its checkpoints remember: training, model, data, tokenizer.
struct RunConfig {
  TrainConfig train;
  ModelConfig model;
  DataConfig data;
  TokenizerConfig tokenizer;

  /// The preset's values, and the defaults of the rest.
  static RunConfig from_preset(Preset preset);

  /// All fields of the four; they refer to this configuration.
  std::vector<Field> fields();
  /// Throws UsageError naming the flag.
  void check() const;
};

/// The text that leaves a value open.
inline constexpr const char* kAuto = "auto";

/// Whether a field belongs to the call, not to the run: a run folder may be moved or copied.
inline bool is_of_the_call(std::string_view field) { return field == "output"; }

/// The field of exactly this name; it must be there.
const Field& field_named(const std::vector<Field>& fields, std::string_view name);

/// The settings of a run: those that a person asked for, and those that the run uses.
///
/// A flag or a line of --config asks for a value. A value that is not given, or given as "auto", is
/// open. An open value is settled once:
///   recall()   a resumed run takes the value from its checkpoint
///   choose()   the data, the device or a measurement decide; the reason is recorded
///   keep()     the value that it has is right, for a reason that is recorded
/// Otherwise it keeps its value, the default or the preset's. The progress record has both kinds of
/// settings. config.toml of the run asks for the first kind again, so that another run chooses for
/// itself, and shows the second kind in comments.
class RunSettings {
 public:
  /// `fields` have the values that were asked for. The variables that they refer to must outlive
  /// the settings. `start` has what was asked for, and the reasons.
  RunSettings(std::vector<Field> fields, const SettingsRecord& start);

  /// Whether the value may still be chosen: none was asked for, recalled or chosen.
  bool is_open(std::string_view name) const;
  /// Whether "auto" was asked for by name, now or when the run was started.
  bool asks_auto(std::string_view name) const;
  /// Whether a value was asked for, now or when the run was started.
  bool asks_value(std::string_view name) const;

  /// Gives a field its value, unless it is not open. The reason is for people: "29,000 pairs".
  void choose(std::string_view name, const std::string& value, const std::string& reason);
  /// Gives every open field the value of the field of the same name; it stays open. `reason` is for
  /// the fields whose value changes.
  void take_defaults(const std::vector<Field>& defaults, const std::string& reason);
  /// Settles a field at the value that it has. The reason is for people.
  void keep(std::string_view name, const std::string& reason);
  /// Gives every open field its remembered value, and settles it.
  void recall(const SettingsRecord& remembered);

  /// For the progress record.
  SettingsRecord record() const;

 private:
  using Texts = std::map<std::string, std::string, std::less<>>;

  std::vector<Field> fields_;
  Texts asked_, reasons_;                       // as in the record
  std::set<std::string, std::less<>> settled_;  // recalled, chosen or kept
};

}  // namespace dragoman
