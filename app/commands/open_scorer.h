// A model that gives the probability of translations.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "app/commands/hardware_choice.h"
#include "base/error.h"
#include "inference/line_scores.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

/// The hardware, --model, and how much is computed together.
struct ScorerChoice : HardwareChoice {
  std::string model;
  std::int64_t max_tokens = 4'096;

  /// Throws UsageError naming the flag.
  void check() const {
    if (model.empty()) throw UsageError("--model: name a run folder or a model file");
    if (max_tokens < 1) throw UsageError("--max-tokens: must be at least 1");
  }

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "model",
           .help = "run folder or model file",
           .group = "Files",
           .placeholder = "FILE"},
          model);
    HardwareChoice::for_each_field(visit);
    visit({.name = "max-tokens",
           .help = "most pieces of each side that are computed together; changes speed and memory, "
                   "not the output",
           .group = "Hardware",
           .aliases = "batch-size,max-batch-size"},
          max_tokens);
  }
};

struct OpenedScorer {
  TokenizerPair tokenizers;
  std::optional<double> several_sentences;  ///< see Provenance
  std::int64_t max_positions;               ///< of a sentence and of its translation, in tokens
  int threads;                              ///< of the CPU
  PairScorer score;
};

/// Opens the model; each program has its own function. Throws Error where the file is damaged or
/// the device is missing, UsageError for an unknown device.
using OpenScorer = std::function<OpenedScorer(const ScorerChoice& choice)>;

/// Scores with the engine for the CPU, in float32 (forced_scores()).
OpenedScorer open_cpu_scorer(const ScorerChoice& choice);

}  // namespace dragoman
