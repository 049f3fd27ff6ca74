// The facts that base/cpu_x86_64.cpp, base/cpu_aarch64.cpp and base/cpu_other.cpp find, each for
// its architecture. Every file is compiled everywhere, and is empty on other architectures.
#pragma once

#include "base/cpu.h"

namespace dragoman {

/// All but the model's name.
CpuFeatures find_cpu_features();

}  // namespace dragoman
