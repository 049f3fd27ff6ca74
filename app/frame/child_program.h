// A command of this program in a process of its own.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command_line.h"

namespace dragoman {

/// The file of this program, never a relative path, which would name a file of the user's folder.
std::filesystem::path own_program();

/// Files that get what a command writes; "" stands for this program's own.
struct ChildOutput {
  std::string output = {};    ///< of standard output; replaced
  std::string messages = {};  ///< of standard error; appended to
};

/// Runs a command of this program, which is the first of the words, with an empty standard input. A
/// signal to stop reaches the command, too, and it stops if this process ends by itself. Returns
/// false after a stop. Throws Error that names the command if it fails or cannot be started, with
/// the signal that ended it, or the last line of the file of its messages.
bool run_child(const std::vector<std::string>& words, const ChildOutput& to);

/// Whether run_child() of another command started this process. That command speaks to the person
/// about what both do: stopping, resuming.
bool is_part();

/// Throws UsageError that names `what`, which needs the command train, if the program is
/// dragoman-lite: it has none.
void require_train(std::string_view what, const Invocation& invocation);

}  // namespace dragoman
