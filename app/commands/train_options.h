// The command train without its work, for which LibTorch is needed: its flags, and the file that
// keeps them, config.toml of a run folder.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/commands.h"
#include "app/frame/command_line.h"
#include "training/settings/run_settings.h"

namespace dragoman {

struct RunMode {
  bool plan = false;
  bool list_presets = false;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Run", visit);
    field(
        "plan", plan,
        "print the memory, speed, time and disk space that the run would take, and do nothing else",
        {.aliases = "dry-run"});
    field("list-presets", list_presets,
          "print the values in which the presets differ, and do nothing else");
  }
};

struct TrainOptions {
  RunMode mode;          // belongs to the call, so no checkpoint has it
  RunSettings settings;  // their values alone
  TextExamination examination = {};
  LongerTraining longer_training = {};
  Invocation invocation = {};

  /// The fields of the command line: those of a checkpoint, which also take "auto" for numbers and
  /// choices, and the mode.
  std::vector<Field> fields();
  /// Makes the preset's values the defaults.
  void apply_preset(const GivenValues& given);
  /// The settings with what was asked for, after the command line has been read.
  RunSettings asked() const;
};

/// The command, whose work is `run`. The command line fills the options.
Command train_command(const std::shared_ptr<TrainOptions>& options, std::function<int()> run);

/// A table of the settings whose values differ between the presets, one in a line.
std::string presets_table();

/// The text of config.toml. It has the settings that the run was asked for, so that another run can
/// choose the others again. The settings that the run chose stand in comments.
std::string config_toml(RunSettings settings);

/// Whether a text is such a file's.
bool is_config_of_a_run(std::string_view text);

}  // namespace dragoman
