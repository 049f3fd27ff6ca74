// train where its command leaves something open: measures text and machine, and says what was
// chosen. The choices are those of training/run_start and training/automatic_settings.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "data/text_size.h"
#include "training/run_start.h"
#include "training/trial.h"

namespace dragoman {

/// What is known, or can be measured, before there is a tokenizer.
struct TextTrial {
  std::function<TextSize()> measure_text;
  torch::Device device;
  std::stop_token stop;
};

/// The size of the text; where the preset is open, also the preset that text and machine suggest.
/// Not for a run that starts from another model.
TextFacts text_facts(const SettledRun& run, const TextTrial& trial, int ranks);

/// Of the encoded text, with the settings of the trial; what an update takes where --max-time asks
/// for it.
CorpusFacts corpus_facts(const TrialSettings& trial, int ranks);

/// One line that says what the run will be, and a warning for each choice that cannot go well.
void log_choices(const TrialSettings& trial, int ranks);

/// Names of the fields that all this may give a value: those of the preset, the text and the
/// length.
std::vector<std::string> automatic_fields();

}  // namespace dragoman
