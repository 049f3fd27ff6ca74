// train --init-from: a run that starts from another model takes its architecture and tokenizer.
#pragma once

#include "app/command.h"
#include "model/file/model_file.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {

/// Throws UsageError where there is no such preset.
Preset parse_preset(const std::string& name);

/// The preset where none is given: base, or with --init-from (a run folder or model file; may be
/// empty) that of the run that made the model. A run that has begun in `output` keeps its own. What
/// cannot be read counts as base: what is wrong with it is said where the weights are read.
Preset inherited_preset(const std::string& init_from, const std::string& output);

/// Dropout rates that were given stay. Throws UsageError naming the flag where another architecture
/// was given, Error where a given tokenizer is not the model's.
void take_architecture(const ModelFileReader& model, const Origins& origins, ModelConfig& config);
void take_tokenizer(const ModelFileReader& model, TokenizerConfig& config);

}  // namespace dragoman
