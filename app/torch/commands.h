// The command that needs LibTorch, and the devices of LibTorch.
#pragma once

#include <torch/types.h>

#include <string>

#include "app/commands/commands.h"
#include "app/frame/command_line.h"

namespace dragoman {

/// `examination` may be empty.
Command train_command(TextExamination examination);

/// As parse_device(). If `text` is auto and a GPU stays unused, the first call logs that.
torch::Device chosen_device(const std::string& text, int local_rank = 0);

}  // namespace dragoman
