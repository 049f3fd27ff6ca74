// The settings that follow from the model that a run starts from: always the tokenizers, and with
// --init-from the architecture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "model/file/model_config.h"
#include "tokenizer/tokenizer_pair.h"
#include "training/start/run_config.h"
#include "training/start/run_settings.h"

namespace dragoman {

/// The model that a run starts from, or its own checkpoint.
struct GivenModel {
  std::string name;  ///< for messages: "this run's checkpoint"
  std::filesystem::path path;
  ModelConfig config;
  TokenizerPair tokenizers;
};

/// Dropout rates that were given stay. Throws UsageError naming the flag where another architecture
/// was given.
void take_architecture(const GivenModel& model, RunSettings& settings, ModelConfig& config);

/// Throws Error where the files of --tokenizer, if there are any, are other tokenizers.
void take_tokenizers(const GivenModel& model, const std::optional<TokenizerPair>& files,
                     TokenizerConfig& config);

/// Throws UsageError naming a flag that says how a tokenizer is made, where --init-from or
/// --tokenizer (`by`) give one that is made otherwise.
void refuse_ignored_tokenizer_flags(const RunSettings& settings, const TokenizerPair& given,
                                    std::string_view by);

}  // namespace dragoman
