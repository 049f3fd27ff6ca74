// The command that needs LibTorch, and the devices of LibTorch.
#pragma once

#include <torch/types.h>

#include <string>

#include "app/commands/commands.h"
#include "app/frame/command_line.h"

namespace dragoman {

/// `examination` may be empty.
Command train_command(TextExamination examination);

/// parse_device(). The first call logs it if `text` = auto leaves a GPU unused.
torch::Device chosen_device(const std::string& text, int local_rank = 0);

}  // namespace dragoman
