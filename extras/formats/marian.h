// Models of Marian (https://marian-nmt.github.io): model.npz with the weights and their
// configuration, decoder.yml, which names the files of a model and the search that suits it, and
// vocabularies. Source: Marian 1.12 (models/transformer.h, layers/, data/).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "extras/formats/exported_folder.h"
#include "extras/formats/foreign_model.h"
#include "model/file/model_config.h"

namespace dragoman {

/// Whether the path is a model.npz, a decoder.yml, or a folder with one decoder.yml.
bool is_marian(const std::filesystem::path& path);

/// `path`: is_marian(). The vocabularies are SentencePiece models (.spm), or .yml files beside
/// source.spm and target.spm, as OPUS-MT has them. Throws Error that names the file and the fault:
/// a file is missing or damaged, or the model is of another type, or has a feature that this
/// program does not know.
ForeignModel read_marian(const std::filesystem::path& path);

/// Makes a folder that Marian loads as it is (marian-decoder -c decoder.yml); it must be missing or
/// empty. Throws Error that names our flag if Marian has no such model: its sinusoids have
/// frequencies of their own (--positions marian), and it has no gated networks. Search settings are
/// treated as in write_hf_marian().
std::vector<std::string> write_marian(const ModelFileReader& model,
                                      const std::filesystem::path& folder,
                                      Unsupported unsupported = Unsupported::Refused);

/// The embedding matrices that are one matrix in Marian: all three (tied-embeddings-all), source
/// and target but not the output (tied-embeddings-src), target and output (tied-embeddings), or
/// none.
enum class MarianTying { All, Source, Output, None };

/// A tensor of model.npz and our parameter. Marian multiplies from the left (x W), so its matrices
/// are ours transposed, and vectors are matrices of one row.
struct NpzTensor {
  std::string theirs;
  ParameterShape ours;
  bool is_transposed = false;

  std::vector<std::int64_t> their_shape() const;
};

/// All tensors of a model.
std::vector<NpzTensor> npz_tensors(const ModelConfig& config, MarianTying tying);

/// A matrix [rows, columns] with its axes exchanged.
std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows,
                              std::int64_t columns);

}  // namespace dragoman
