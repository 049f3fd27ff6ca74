#include "app/commands/standard_input.h"

#include "base/error.h"

namespace dragoman {

void check_standard_input(const std::vector<InputFlag>& inputs) {
  int readers = 0;
  std::string flags;
  for (const auto& [flag, file] : inputs) {
    if (file != "-") continue;
    flags += (readers++ == 0 ? "" : ", ") + flag;
  }
  if (readers > 1) throw UsageError(flags, ": only one of them can be standard input (-)");
}

}  // namespace dragoman
