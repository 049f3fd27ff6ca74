// Which tensor of Marian's model.npz is which of our parameters. Marian multiplies from the left
// (x W), so its matrices are ours transposed, and vectors are matrices of one row. Read in Marian's
// models/transformer.h and layers/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/file/model_config.h"

namespace dragoman {

/// The embedding matrices that are one in Marian: all three (tied-embeddings-all), source and
/// target with an output of its own (tied-embeddings-src), target and output (tied-embeddings), or
/// none.
enum class MarianTying { All, Source, Output, None };

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
