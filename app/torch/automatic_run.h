// train where its command leaves something open: measures text and machine, chooses, and says what
// was chosen and why. What the choices are is in training/automatic_settings.
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

/// What is known, or can be measured, before there is a tokenizer.
struct TextTrial {
  std::function<TextSize()> measure_text;
  torch::Device device;
  std::stop_token stop;
};

/// Size of the model, vocabulary, dropout: before the text is encoded. On all ranks, which get what
/// rank 0 has chosen; not for a run that starts from another model.
void choose_by_text(TrainOptions& options, RunSettings& settings, const TextTrial& trial,
                    Communicator& ranks);

/// Length, warm-up, validations, patience, moving average: before the first update.
void choose_by_corpus(TrainOptions& options, RunSettings& settings, const TrialSettings& trial,
                      int ranks);

/// One line that says what the run will be, and a warning for each choice that cannot go well.
void log_choices(const TrainOptions& options, const TrialSettings& trial, int ranks);

/// Names of the fields that all this may give a value: those of the preset, the text and the
/// length.
std::vector<std::string> automatic_fields();

}  // namespace dragoman
