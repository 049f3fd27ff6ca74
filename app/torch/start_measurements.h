// Measures the text and the machine where a train command leaves settings open, and says what was
// chosen. training/start/run_start and training/start/automatic_settings make the choices.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "data/text_size.h"
#include "training/start/run_start.h"
#include "training/start/trial.h"

namespace dragoman {

/// Facts and measurements for choices before there is a tokenizer.
struct TextMeasurement {
  std::function<TextSize()> measure_text;
  torch::Device device;
  std::stop_token stop;
};

/// Measures the size of the text. Where the preset is open, also finds the preset that fits text
/// and machine. Not for a run that starts from another model.
TextFacts measure_text_facts(const SettledRun& run, const TextMeasurement& measurement, int ranks);

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
