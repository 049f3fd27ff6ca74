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
  if (name.empty()) return cpu.avx512 ? avx512::kTable : cpu.avx2 ? avx2::kTable : portable::kTable;
  if (name == "portable") return portable::kTable;
  if (name == "avx2" && cpu.avx2) return avx2::kTable;
  if (name == "avx512" && cpu.avx512) return avx512::kTable;
  throw Error("DRAGOMAN_ISA=", name, ": this processor offers portable", cpu.avx2 ? ", avx2" : "",
              cpu.avx512 ? ", avx512" : "");
}

}  // namespace

const KernelTable& kernels() {
  static const KernelTable& table = choose();
  return table;
}

}  // namespace dragoman
