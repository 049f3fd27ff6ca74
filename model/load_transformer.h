// The module tree with the weights of a model file.
#pragma once

#include "model/file/model_file.h"
#include "model/transformer.h"

namespace dragoman {

/// In fp32 on `device`, for use without gradients.
Transformer load_transformer(const ModelFileReader& file, torch::Device device);

}  // namespace dragoman
