// train --init-from: a run that starts from another model takes its architecture and tokenizer.
#pragma once

#include "app/command.h"
#include "model/file/model_file.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {

/// Dropout rates that were given stay. Throws UsageError naming the flag where another architecture
/// was given, Error where a given tokenizer is not the model's.
void take_architecture(const ModelFileReader& model, const Origins& origins, ModelConfig& config);
void take_tokenizer(const ModelFileReader& model, TokenizerConfig& config);

}  // namespace dragoman
