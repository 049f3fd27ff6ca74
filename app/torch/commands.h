// The work that needs LibTorch, and the devices of LibTorch.
#pragma once

#include <torch/types.h>

#include <string>

#include "app/commands/train_options.h"

namespace dragoman {

/// The work of dragoman train. Returns the exit code.
int run_train(const TrainOptions& options);

/// As parse_device(). If `text` is auto and a GPU stays unused, the first call logs that.
torch::Device chosen_device(const std::string& text, int local_rank = 0);

}  // namespace dragoman
