// The model that a command works with, and the hardware that it works on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "base/fields.h"
#include "inference/cpu/packed_linear.h"
#include "inference/decode_config.h"
#include "inference/engine.h"
#include "inference/translator.h"
#include "model/file/model_file.h"
#include "model/transformer.h"
#include "tokenizer/tokenizers.h"

namespace dragoman {

struct HardwareChoice {
  std::string device = "auto";
  std::int64_t threads = 0;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    constexpr std::string_view kHardware = "Hardware";
    visit({.name = "device", .help = "auto, cpu, cuda or cuda:N", .group = kHardware}, device);
    visit({.name = "threads",
           .help = "of the CPU; 0: all that this process may use",
           .group = kHardware,
           .aliases = "cpu-threads"},
          threads);
  }
};

/// Of translation.
struct EngineChoice : HardwareChoice {
  ComputeType compute_type = ComputeType::Auto;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    HardwareChoice::for_each_field(visit);
    visit({.name = "compute-type",
           .help = "arithmetic of the CPU; auto: float32; int8 is faster and rounds the weights",
           .group = "Hardware"},
          compute_type);
  }
};

/// --model beside a HardwareChoice or EngineChoice.
template <class Hardware>
struct ModelOn : Hardware {
  std::string model;

  /// Throws UsageError naming the flag.
  void validate() const {
    if (model.empty()) throw UsageError("--model: name a run folder or a model file");
  }

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "model", .help = "run folder or model file", .group = "Files"}, model);
    Hardware::for_each_field(visit);
  }
};
using ModelChoice = ModelOn<HardwareChoice>;

/// The module tree.
struct OpenedModel {
  Tokenizers tokenizers;
  Transformer transformer;
  int threads;  ///< of the CPU
};

/// Throws Error where the file is damaged or the device is missing.
OpenedModel open_model(const ModelChoice& choice);

/// A model as translation needs it: on the CPU an engine for each thread, on a GPU one.
struct OpenedTranslator {
  Tokenizers tokenizers;
  std::vector<std::unique_ptr<Engine>> engines;
  DecodeDefaults decode_defaults;
  std::int64_t updates;  ///< behind its weights

  /// The search that the flags ask for; what they leave open is as the model has it. Throws
  /// UsageError where that is no valid search.
  DecodeConfig search_with(DecodeConfig flags, const Origins& origins) const;
  Translator translator(const DecodeConfig& search) const;
};

/// Throws Error where the file is damaged or the device is missing.
OpenedTranslator open_translator(const std::string& model, const EngineChoice& choice);

}  // namespace dragoman
