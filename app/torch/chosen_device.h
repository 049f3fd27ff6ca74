// The device of a command of this program.
#pragma once

#include <torch/types.h>

#include <string>

namespace dragoman {

/// parse_device(). The first call logs where `text` = auto leaves a GPU unused.
torch::Device chosen_device(const std::string& text, int local_rank = 0);

}  // namespace dragoman
