// Chooses the settings that a train command leaves open: measures the text and the machine,
// chooses, and says what was chosen and why. training/automatic_settings has the choices.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/torch/run_settings.h"
#include "app/torch/train_options.h"
#include "data/prepare.h"
#include "data/text_size.h"
#include "training/ranks/communicator.h"
#include "training/trial.h"

namespace dragoman {

/// Facts and measurements for choices before there is a tokenizer.
struct TextTrial {
  std::function<TextSize()> measure_text;
  torch::Device device;
  std::stop_token stop;
};

/// Chooses the size of the model, the vocabulary and dropout before the text is encoded. All ranks
/// call it and get rank 0's choice. Not for a run that starts from another model.
void choose_by_text(TrainOptions& options, RunSettings& settings, const TextTrial& trial,
                    Communicator& ranks);

/// Chooses length, warm-up, validations, patience and moving average before the first update.
void choose_by_corpus(TrainOptions& options, RunSettings& settings, const TrialSettings& trial,
                      int ranks);

/// Logs one line about the run, and a warning for each choice that cannot go well.
void log_choices(const TrainOptions& options, const TrialSettings& trial, int ranks);

/// Names of the fields that these functions may give a value: those of the preset, the text and the
/// length.
std::vector<std::string> automatic_fields();

}  // namespace dragoman
