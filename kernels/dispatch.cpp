#include <cstdlib>
#include <string>

#include "base/cpu.h"
#include "base/error.h"
#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

namespace dragoman {

namespace {

/// What the environment's DRAGOMAN_ISA names, or nothing.
std::string forced_isa() {
  const char* forced = std::getenv("DRAGOMAN_ISA");
  return forced == nullptr ? "" : forced;
}

const KernelTable& choose() {
  const std::string name = forced_isa();
  const CpuFeatures& cpu = cpu_features();
  struct Choice {
    const KernelTable& table;
    bool offered;
  };
  const Choice choices[] = {{avx512_bf16::kTable, cpu.avx512 && cpu.avx512_bf16},  // from the best
                            {avx512::kTable, cpu.avx512},
                            {avx2::kTable, cpu.avx2},
                            {portable::kTable, true}};
  std::string offered;
  for (const Choice& choice : choices) {
    if (!choice.offered) continue;
    if (name.empty() || name == choice.table.name) return choice.table;
    offered += (offered.empty() ? "" : ", ") + std::string(choice.table.name);
  }
  throw Error("DRAGOMAN_ISA=", name, ": this processor offers ", offered);
}

const LinearKernels& choose_linear() {
  const std::string name = kernels().name == "avx512_bf16" ? "avx512_vnni" : forced_isa();
  const CpuFeatures& cpu = cpu_features();
  const bool all = name.empty() || name == "avx512_vnni";
  if (cpu.avx512 && cpu.avx512_vnni && all) return avx512_vnni::kLinearKernels;
  if (cpu.avx512 && (all || name == "avx512")) return avx512::kLinearKernels;
  if (cpu.avx2 && (all || name == "avx2")) return avx2::kLinearKernels;
  return portable::kLinearKernels;
}

}  // namespace

const LinearKernels& linear_kernels() {
  static const LinearKernels& table = choose_linear();
  return table;
}

const KernelTable& kernels() {
  static const KernelTable& table = choose();
  return table;
}

}  // namespace dragoman
