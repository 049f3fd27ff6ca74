#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/cpu.h"
#include "base/error.h"
#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

namespace dragoman {

namespace {

template <class Table>
struct Choice {
  std::string_view isa;  ///< as DRAGOMAN_ISA names it
  const Table& table;
  bool offered;
};

/// The first that the processor offers, or the one that the environment's DRAGOMAN_ISA names.
template <class Table>
const Table& choose(std::initializer_list<Choice<Table>> choices) {
  const char* forced = std::getenv("DRAGOMAN_ISA");
  const std::string name = forced == nullptr ? "" : forced;
  std::string offered;
  for (const Choice<Table>& choice : choices) {
    if (!choice.offered) continue;
    if (name.empty() || name == choice.isa) return choice.table;
    offered += (offered.empty() ? "" : ", ") + std::string(choice.isa);
  }
  throw Error("DRAGOMAN_ISA=", name, ": this processor offers ", offered);
}

}  // namespace

const KernelTable& kernels() {
  const CpuFeatures& cpu = cpu_features();
  static const KernelTable& table =
      choose<KernelTable>({{"avx512_bf16", avx512_bf16::kTable, cpu.avx512_vnni && cpu.avx512_bf16},
                           {"avx512_vnni", avx512::kTable, cpu.avx512_vnni},
                           {"avx512", avx512::kTable, cpu.avx512},
                           {"avx2", avx2::kTable, cpu.avx2},
                           {"portable", portable::kTable, true}});
  return table;
}

const LinearKernels& linear_kernels() {
  const CpuFeatures& cpu = cpu_features();
  static const LinearKernels& table = choose<LinearKernels>(
      {{"avx512_bf16", avx512_bf16::kLinearKernels, cpu.avx512_vnni && cpu.avx512_bf16},
       {"avx512_vnni", avx512_vnni::kLinearKernels, cpu.avx512_vnni},
       {"avx512", avx512::kLinearKernels, cpu.avx512},
       {"avx2", avx2::kLinearKernels, cpu.avx2},
       {"portable", portable::kLinearKernels, true}});
  return table;
}

}  // namespace dragoman
