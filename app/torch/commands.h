// The subcommands that need LibTorch.
#pragma once

#include "app/frame/command.h"

namespace dragoman {

Command train_command();
Command score_command();

}  // namespace dragoman
