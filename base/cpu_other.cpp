#if !defined(__x86_64__) && !defined(__aarch64__)

#include <stdexcept>
#include <string>

#include "base/cpu_architecture.h"

namespace dragoman {

bool cpu_supports(std::string_view instructions) {
  throw std::logic_error("not known of this processor: " + std::string(instructions));
}

CpuFeatures find_cpu_features() {
  CpuFeatures cpu;
  cpu.instructions = "no vector instructions that Dragoman knows";
  return cpu;
}

}  // namespace dragoman

#endif
