// A model file with its matrices as whole numbers of 8 bits, a quarter of their size, a scale for
// each row (the output of a linear layer, the vector of a piece). The layout is the same for any
// processor.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "model/file/model_file.h"

namespace dragoman {

/// The matrices that write_quantized() rounds (all but learned positions), and what the rounding
/// does to each: the error's length divided by the matrix's. The largest first.
struct RoundedMatrix {
  std::string name;
  double relative_error;
};
std::vector<RoundedMatrix> rounded_matrices(const ModelFileReader& model);

/// Writes `model` to `output`, its matrices rounded but those named in `kept`; training state and
/// scores are left out. Throws Error where the model is rounded already.
void write_quantized(const ModelFileReader& model, const std::filesystem::path& output,
                     const std::set<std::string>& kept, const std::string& command);

}  // namespace dragoman
