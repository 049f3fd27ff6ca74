// Measures the text and the machine where a train command leaves settings open, and says what was
// chosen. training/start/settled_run and training/start/automatic_settings make the choices.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/text_size.h"
#include "training/start/settled_run.h"
#include "training/start/trial.h"

namespace dragoman {

/// Where the speed of a preset is measured.
struct SpeedMeasurement {
  /// The settings that the run would have with a preset.
  std::function<RunConfig(Preset)> config_of;
  torch::Device device;
  int ranks;  ///< that train together
  std::stop_token stop;
};

/// The preset that fits the text and the machine, as preset_for() chooses it. Speeds are measured
/// on random sentences as long as those of the text. Throws UsageError where a setting does not go
/// with a preset, and PreparationStopped.
ChosenPreset measure_preset(const TextSize& text, const SpeedMeasurement& measurement);

/// The facts of the encoded text, with the settings of the trial. An update is timed only where
/// --max-time asks for it.
EpochFacts measure_epoch(const TrialSettings& trial);

/// Logs one line about the run, and a warning for each choice that cannot go well. Times an update
/// where the facts of the corpus have no time.
void log_choices(const TrialSettings& trial, const EpochFacts& corpus);

/// Names of the fields that these functions may give a value: those of the preset, the text and the
/// length.
std::vector<std::string> automatic_fields();

}  // namespace dragoman
