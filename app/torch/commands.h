// The subcommand that needs LibTorch.
#pragma once

#include "app/frame/command.h"

namespace dragoman {

Command train_command();

}  // namespace dragoman
