// The folders of Hugging Face's MarianMTModel, as OPUS-MT's models are published:
// config.json, model.safetensors or pytorch_model.bin (or their parts and an index), source.spm,
// target.spm, vocab.json (target_vocab.json where each side has a vocabulary) and
// generation_config.json. Read in transformers 5 (models/marian/modeling_marian.py,
// tokenization_marian.py).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "extras/formats/exported_search.h"
#include "extras/formats/foreign_model.h"

namespace dragoman {

/// Whether the folder's config.json says that it is one.
bool is_hf_marian(const std::filesystem::path& folder);

/// Throws Error that names the file and the fault: one is missing or damaged, or the model has a
/// choice that this program does not know.
ForeignModel read_hf_marian(const std::filesystem::path& folder);

/// Makes a folder that transformers loads as it is; it must not exist, or be empty. Throws Error
/// that names our flag where MarianMTModel has no such model (hf_tensors()), and the settings
/// of the model's search that transformers has not, where these are refused. Returns those that
/// were left out.
std::vector<std::string> write_hf_marian(const ModelFileReader& model,
                                         const std::filesystem::path& folder,
                                         Unheld unheld = Unheld::Refused);

}  // namespace dragoman
