// The model that a command works with, and the hardware that it works on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/command.h"
#include "base/fields.h"
#include "inference/decode_config.h"
#include "inference/torch/torch_engine.h"
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

struct ModelChoice : HardwareChoice {
  std::string model;

  /// Throws UsageError naming the flag.
  void validate() const;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "model", .help = "run folder or model file", .group = "Files"}, model);
    HardwareChoice::for_each_field(visit);
  }
};

struct OpenedModel {
  Tokenizers tokenizers;
  Transformer transformer;
  int threads;  ///< of the CPU
  DecodeDefaults decode_defaults;
  std::int64_t updates;  ///< behind its weights

  /// For search; shares the transformer.
  TorchEngine engine() const { return {transformer, tokenizers.target->never_emitted()}; }
};

/// The search that the flags ask for; what they leave open is as the model has it. Throws
/// UsageError where that is no valid search.
DecodeConfig search_with(const OpenedModel& model, DecodeConfig flags, const Origins& origins);

/// Throws Error where the file is damaged or the device is missing.
OpenedModel open_model(const std::string& model, const HardwareChoice& hardware);
inline OpenedModel open_model(const ModelChoice& choice) {
  return open_model(choice.model, choice);
}

}  // namespace dragoman
