// Opens a model as the module tree.
#pragma once

#include <optional>

#include "app/commands/hardware_choice.h"
#include "model/transformer.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

struct OpenedModel {
  TokenizerPair tokenizers;
  Transformer transformer;
  int threads;                              ///< of the CPU
  std::optional<double> several_sentences;  ///< see Provenance
};

/// Throws Error where the file is damaged or the device is missing.
OpenedModel open_model(const ModelChoice& choice);

}  // namespace dragoman
