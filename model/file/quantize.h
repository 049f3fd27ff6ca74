// A model file with matrices of 8-bit whole numbers, a quarter of the size. Each row has a scale; a
// row is one output of a linear layer, or the vector of a piece. The layout is the same for any
// processor.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "model/file/model_file.h"

namespace dragoman {

/// The matrices that write_quantized() rounds (all but learned positions), and the relative error
/// of each: the norm of the error divided by the norm of the matrix. The largest error comes first.
struct RoundedMatrix {
  std::string name;
  double relative_error;
};
std::vector<RoundedMatrix> rounded_matrices(const ModelFileReader& model);

/// Writes `model` to `output` with all matrices rounded except those in `kept`. Training state and
/// scores are left out. Returns the size of the file in bytes. Throws Error where the model is
/// rounded already.
std::size_t write_quantized(const ModelFileReader& model, const std::filesystem::path& output,
                            const std::set<std::string>& kept, const std::string& command);

}  // namespace dragoman
