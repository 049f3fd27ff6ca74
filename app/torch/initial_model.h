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
/// empty) that of the run that made the model. A model that cannot be read counts as base; its
/// fault is reported where the weights are read.
Preset inherited_preset(const std::string& init_from);

/// Gives `config` the model's architecture, but keeps dropout rates that were given. Throws
/// UsageError naming the flag where another architecture was given, Error where a given tokenizer
/// is not the model's.
void take_architecture(const ModelFileReader& model, RunSettings& settings, ModelConfig& config);
/// Gives `config` the model's tokenizer. `of` names the model in messages.
void take_tokenizer(const ModelFileReader& model, std::string_view of, TokenizerConfig& config);

/// Throws UsageError naming a flag about the making of a tokenizer, where --init-from or
/// --tokenizer give a tokenizer that was made otherwise.
void refuse_ignored_tokenizer_flags(const RunSettings& settings, const Tokenizers& given,
                                    std::string_view by);

}  // namespace dragoman
