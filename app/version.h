// What --version tells.
#pragma once

#include <string>

namespace dragoman {

/// Our version, LibTorch's, the CUDA that it was built with and its devices, the processor.
std::string version_text();

}  // namespace dragoman
