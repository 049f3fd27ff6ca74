// Opens a model as the module tree.
#pragma once

#include <optional>
#include <string>

#include "app/commands/hardware_choice.h"
#include "base/error.h"
#include "model/transformer.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// The hardware, and --model.
struct ModelChoice : HardwareChoice {
  std::string model;

  /// Throws UsageError naming the flag.
  void validate() const {
    if (model.empty()) throw UsageError("--model: name a run folder or a model file");
  }

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "model",
           .help = "run folder or model file",
           .group = "Files",
           .placeholder = "FILE"},
          model);
    HardwareChoice::for_each_field(visit);
  }
};

struct OpenedModel {
  TokenizerPair tokenizers;
  Transformer transformer;
  int threads;                              ///< of the CPU
  std::optional<double> several_sentences;  ///< see Provenance
};

/// Throws Error where the file is damaged or the device is missing.
OpenedModel open_model(const ModelChoice& choice);

}  // namespace dragoman
