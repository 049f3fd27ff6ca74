// A model of another system in the terms of this program, ready to be written as a model file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "model/file/model_file.h"
#include "tokenizer/tokenizer_pair.h"

namespace dragoman {

struct ImportedModel {
  std::string kind;  ///< for messages: "Hugging Face's MarianMTModel"
  ModelConfig config;
  std::string source_tokenizer, target_tokenizer;        ///< SentencePiece models
  std::map<std::string, std::vector<float>> parameters;  ///< those of parameter_shapes(config)
  DecodeDefaults decode_defaults;
};

/// Throws Error where the bytes are no tokenizers.
TokenizerPair tokenizers_of(const ImportedModel& model);

/// Views of the parameters.
std::vector<TensorData> tensors_of(const ImportedModel& model);

/// Throws Error where writing fails. A file that is there is replaced.
void write_imported(const ImportedModel& model, const std::filesystem::path& path,
                    const std::string& command);

}  // namespace dragoman
