// The check that one flag at most reads standard input.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

/// A flag and the name of the file that it reads.
struct InputFlag {
  std::string flag;
  std::string file;
};

/// Throws UsageError where several files are "-", as standard input can be read only once.
void check_standard_input(const std::vector<InputFlag>& inputs);

}  // namespace dragoman
