// The subcommands that need no LibTorch. Each has a file of its own.
#pragma once

#include <vector>

#include "app/commands/extra.h"
#include "app/commands/open_model.h"
#include "app/frame/command_line.h"

namespace dragoman {

Command translate_command(DeviceEngine device_engine, std::vector<DocumentInput> documents);
Command evaluate_command(DeviceEngine device_engine, std::vector<EvaluationPage> pages);
Command score_command(OpenScorer open_scorer);
Command average_command();
Command quantize_command();
Command inspect_command();

/// The commands that both programs have: those of the core, then those of the extras.
std::vector<Command> common_commands(const DeviceEngine& device_engine, OpenScorer open_scorer,
                                     const std::vector<Extra>& extras);

}  // namespace dragoman
