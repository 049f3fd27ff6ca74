// train --init-from: a run that starts from another model takes its architecture and tokenizer.
#pragma once

#include "app/torch/run_settings.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizers.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {

/// Throws UsageError where there is no such preset.
Preset parse_preset(const std::string& name);

/// The preset where none is given: base, or with --init-from (a run folder or model file; may be
/// empty) that of the run that made the model. What cannot be read counts as base: what is wrong
/// with it is said where the weights are read.
Preset inherited_preset(const std::string& init_from);

/// Dropout rates that were given stay. Throws UsageError naming the flag where another architecture
/// was given, Error where a given tokenizer is not the model's.
void take_architecture(const ModelFileReader& model, RunSettings& settings, ModelConfig& config);
/// `of` says whose model it is, for messages.
void take_tokenizer(const ModelFileReader& model, std::string_view of, TokenizerConfig& config);

/// Throws UsageError naming a flag that says how a tokenizer is made, where --init-from or
/// --tokenizer give one that is made otherwise.
void refuse_ignored_tokenizer_flags(const RunSettings& settings, const Tokenizers& given,
                                    std::string_view by);

}  // namespace dragoman
