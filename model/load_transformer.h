// The module tree with the weights of a model file.
#pragma once

#include "model/file/model_file.h"
#include "model/transformer.h"

namespace dragoman {

/// In fp32 on `device`, for use without gradients. Throws Error naming the file where a weight is
/// missing, or has another shape than the file's configuration asks for.
Transformer load_transformer(const ModelFileReader& file, torch::Device device);

}  // namespace dragoman
