// A model that translates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/hardware_choice.h"
#include "inference/decode_config.h"
#include "inference/engine.h"
#include "inference/translation_service.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizers.h"

namespace dragoman {

/// A model as translation needs it: on the CPU an engine for each thread, on a GPU one.
struct OpenedTranslator {
  Tokenizers tokenizers;
  std::vector<std::unique_ptr<Engine>> engines;
  DecodeDefaults decode_defaults;
  std::int64_t updates;                     ///< behind its weights
  std::optional<double> several_sentences;  ///< see Provenance

  /// The search that the flags ask for; what they leave open is as the model has it. Throws
  /// UsageError where that is no valid search.
  DecodeConfig search_with(DecodeConfig flags, const Origins& origins) const;
  /// What translates as long as it lives; `rows` as DecodeConfig::batch_size.
  TranslationService service(std::int64_t rows = 0) const;
};

/// Of one model, or an ensemble. Throws Error where a file is damaged, the device is missing or the
/// models' tokenizers differ.
OpenedTranslator open_translator(const std::vector<std::string>& models,
                                 const EngineChoice& choice);

/// An engine on what --device names, or nothing where that is the CPU. Throws UsageError for other
/// texts, Error where the device is missing here or in this program, whose own this is.
std::unique_ptr<Engine> engine_on_device(const std::string& device, const ModelFileReader& file,
                                         const std::vector<TokenId>& never_emitted);

}  // namespace dragoman
