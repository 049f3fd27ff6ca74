#if defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "base/cpu_architecture.h"

namespace dragoman {

bool cpu_supports(std::string_view instructions) {
  const unsigned long has = getauxval(AT_HWCAP);
  // The extensions of ARMv8.1 and ARMv8.2 that a compiler may use.
  constexpr unsigned long kArmv82 = HWCAP_ASIMD | HWCAP_CRC32 | HWCAP_ATOMICS | HWCAP_ASIMDRDM;
  const std::pair<std::string_view, bool> known[] = {{"simd", has & HWCAP_ASIMD},
                                                     {"arch=armv8.2-a", (has & kArmv82) == kArmv82},
                                                     {"dotprod", has & HWCAP_ASIMDDP}};
  for (const auto& [name, there] : known)
    if (name == instructions) return there;
  throw std::logic_error("not known of 64-bit ARM: " + std::string(instructions));
}

CpuFeatures find_cpu_features() {
  CpuFeatures cpu;
  cpu.instructions = cpu_supports("simd") ? "NEON" : "no NEON";
  if (cpu_supports("dotprod")) cpu.instructions += " DotProd";
  return cpu;
}

}  // namespace dragoman

#endif
