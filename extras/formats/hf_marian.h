// The folders of Hugging Face's MarianMTModel, as OPUS-MT's models are published:
// config.json, model.safetensors or pytorch_model.bin (or their parts and an index), source.spm,
// target.spm, vocab.json (and target_vocab.json if each side has a vocabulary) and
// generation_config.json. Source: transformers 5 (models/marian/modeling_marian.py,
// tokenization_marian.py).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "extras/formats/exported_folder.h"
#include "extras/formats/foreign_model.h"
#include "model/file/model_config.h"

namespace dragoman {

/// Whether the folder's config.json says that it holds a MarianMTModel.
bool is_hf_marian(const std::filesystem::path& folder);

/// Throws Error that names the file and the fault: a file is missing or damaged, or the model has a
/// feature that this program does not know.
ForeignModel read_hf_marian(const std::filesystem::path& folder);

/// Makes a folder that transformers loads as it is; it must be missing or empty. Throws Error that
/// names our flag if MarianMTModel has no such model (hf_tensors()), or that names the search
/// settings that transformers lacks, if these are refused. Returns the settings that were left out.
std::vector<std::string> write_hf_marian(const ModelFileReader& model,
                                         const std::filesystem::path& folder,
                                         Unsupported unsupported = Unsupported::Refused);

/// The number of pieces after ours in their vocabularies: <pad>, and before it unused pieces if the
/// other side has more. MarianMTModel has one padding id, the last one of both sides.
struct HfPadding {
  std::int64_t source = 1, target = 1;
};

/// Makes both sides of a model equally large.
HfPadding hf_padding(const ModelConfig& config);

/// The text of an unused piece; `number` counts from 0. No SentencePiece model has such a piece,
/// because it contains spaces.
std::string unused_piece(std::int64_t number);
bool is_unused_piece(std::string_view piece);

/// A parameter under both names. Both have the same elements, except for the order of d_model
/// (ColumnOrder::Halves) and for padding, which ours lack.
struct HfTensor {
  std::string ours, theirs;
  std::vector<std::int64_t> shape;  ///< ours
  /// The number of their last rows (elements of a bias) that are padding (HfPadding).
  std::int64_t padding_rows = 0;

  /// With padding; their output bias is a matrix of one row.
  std::vector<std::int64_t> their_shape() const;
  /// The number of padding elements.
  std::size_t padding() const;
};

/// All tensors of a model, for both directions. Throws Error that names our flag for a
/// configuration that MarianMTModel does not have: normalisation before the sub-layers, learned
/// positions, gated networks, another epsilon.
std::vector<HfTensor> hf_tensors(const ModelConfig& config, const HfPadding& padding);

}  // namespace dragoman
