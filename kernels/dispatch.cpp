#include <cstdlib>
#include <string>

#include "base/cpu.h"
#include "base/error.h"
#include "kernels/kernels.h"

namespace dragoman {

namespace {

const KernelTable& choose() {
  const char* forced = std::getenv("DRAGOMAN_ISA");
  const std::string name = forced == nullptr ? "" : forced;
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

}  // namespace

const KernelTable& kernels() {
  static const KernelTable& table = choose();
  return table;
}

}  // namespace dragoman
