// The subcommands that need no LibTorch. Each has a file of its own; the main.cpp of a program
// lists those that it has.
#pragma once

#include "app/commands/open_scorer.h"
#include "app/commands/open_translator.h"
#include "app/frame/command.h"

namespace dragoman {

Command sample_command();
Command translate_command(DeviceEngine device_engine);
Command serve_command(DeviceEngine device_engine);
Command evaluate_command(DeviceEngine device_engine);
Command score_command(OpenScorer open_scorer);
Command explain_command();
Command average_command();
Command export_command();
Command import_command();
Command quantize_command();
Command inspect_command();
Command plot_command();

}  // namespace dragoman
