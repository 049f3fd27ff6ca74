// A model that translates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/hardware_choice.h"
#include "app/frame/command.h"
#include "inference/demands.h"
#include "inference/search/decode_config.h"
#include "inference/search/engine.h"
#include "inference/translation_service.h"
#include "model/file/model_file.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

struct CpuModel;

/// The search that the flags ask for. Values that they leave open are those of the model. Throws
/// UsageError where that is no valid search.
DecodeConfig search_with(DecodeConfig flags, const Origins& origins,
                         const DecodeDefaults& defaults);

/// A model as translation needs it: on the CPU an engine for each thread, on a GPU one.
struct OpenedTranslator {
  TokenizerPair tokenizers;
  std::vector<std::unique_ptr<Engine>> engines;
  std::shared_ptr<const CpuModel> weights;  ///< of the engines; null on a GPU and of an ensemble
  bool is_on_gpu = false;
  DecodeDefaults decode_defaults;
  std::int64_t updates;  ///< behind its weights
  /// The same text for all checkpoints of one run: its folder, or beside other models in a folder
  /// the settings, too.
  std::string run;
  std::optional<double> several_sentences;                  ///< see Provenance
  CopiedFractions copied_fractions = {};                    ///< see Provenance
  std::optional<SeenCharacters> characters = std::nullopt;  ///< see Provenance

  DecodeConfig search_with(const DecodeConfig& flags, const Origins& origins) const {
    return dragoman::search_with(flags, origins, decode_defaults);
  }
  /// A translation service on these engines. This object must outlive it. `limits.rows` is
  /// DecodeConfig::batch_size, `cache_bytes` are those of ServiceConfig.
  TranslationService service(const Workers::Limits& limits = {},
                             std::int64_t cache_bytes = 0) const;
};

/// Makes a model's engine on the device that --device names; null where that is the CPU. Each
/// program has its own. Throws UsageError for other texts, and Error for a device that is missing
/// in this machine or this program.
using DeviceEngine =
    std::function<std::unique_ptr<Engine>(const std::string& device, const ModelFileReader& file,
                                          const std::vector<TokenId>& never_emitted)>;

/// The DeviceEngine of a program that knows the CPU alone.
std::unique_ptr<Engine> no_device_engine(const std::string& device, const ModelFileReader& file,
                                         const std::vector<TokenId>& never_emitted);

/// Says which translations are not searched for on the GPU that the models are on; empty where all
/// are, or the models are on the CPU.
std::string host_search_notice(const OpenedTranslator& opened, std::size_t models,
                               const Demands& demands);

/// Opens one model, or several as an ensemble. Throws Error where a file is damaged or the models'
/// tokenizers differ, and the errors of `device_engine`.
OpenedTranslator open_translator(const std::vector<std::string>& models, const EngineChoice& choice,
                                 const DeviceEngine& device_engine);
/// The same of one model, whose file is open.
OpenedTranslator translator_of(const ModelFileReader& file, const EngineChoice& choice,
                               const DeviceEngine& device_engine);

}  // namespace dragoman
