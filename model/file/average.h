// The average of several models' parameters (section 6.1 of the paper: the last 5 checkpoints of
// the base models, the last 20 of the big ones).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/file/model_file.h"

namespace dragoman {

/// Writes to `output` a model whose parameters (F32) are the means of those of `models`, summed in
/// double precision. Training state is left out. The provenance is that of the model with the most
/// updates, with `command` and the list of models, and without scores. Throws Error where
/// architectures or tokenizers differ, naming both files.
void write_average(std::span<const std::filesystem::path> models,
                   const std::filesystem::path& output, const std::string& command);

}  // namespace dragoman
