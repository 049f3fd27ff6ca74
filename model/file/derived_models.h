// Model files that are made from others: the average of several, and one with matrices of 8-bit
// whole numbers.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/file/model_file.h"

namespace dragoman {

/// The average of several models (section 6.1 of the paper: the last 5 checkpoints of the base
/// models, the last 20 of the big ones). Writes to `output` a model whose parameters (F32) are the
/// means of those of `models`, summed in double precision. Training state is left out. The
/// provenance is that of the model with the most updates, with `command` and the list of models,
/// and without scores. Throws Error, naming both files, if architectures or tokenizers differ.
void write_average(std::span<const std::filesystem::path> models,
                   const std::filesystem::path& output, const std::string& command);

/// The matrices that write_quantized() rounds (all but learned positions), and the relative error
/// of each: the norm of the error divided by the norm of the matrix. The largest error comes first.
struct RoundedMatrix {
  std::string name;
  double relative_error;
};
std::vector<RoundedMatrix> rounded_matrices(const ModelFileReader& model);

/// Writes `model` to `output` with all matrices rounded to 8 bits, except those in `kept`. The file
/// has a quarter of the size. Each row has a scale; a row is one output of a linear layer, or the
/// vector of a piece. The layout is the same for any processor. Training state and scores are left
/// out. Returns the size of the file in bytes. Throws Error if the model is rounded already.
std::size_t write_quantized(const ModelFileReader& model, const std::filesystem::path& output,
                            const std::set<std::string>& kept, const std::string& command);

}  // namespace dragoman
