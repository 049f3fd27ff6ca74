#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "kernels/inference_kernels.h"
#include "kernels/instruction_sets.h"
#include "kernels/kernels.h"

/// A line for each instruction set, the best first: its namespace, and whether the processor has
/// it.
#define DRAGOMAN_INSTRUCTION_SETS(line)                                                   \
  line(avx512_bf16, cpu.avx512_vnni&& cpu.avx512_bf16) line(avx512_vnni, cpu.avx512_vnni) \
      line(avx512, cpu.avx512) line(avx2, cpu.avx2) line(sse2, true)

namespace dragoman {

#define DRAGOMAN_DECLARE(isa, offered)         \
  namespace isa {                              \
  extern const InstructionSet kInstructionSet; \
  }
DRAGOMAN_INSTRUCTION_SETS(DRAGOMAN_DECLARE)

namespace {

/// The sets of this processor, best first; those from the one on that DRAGOMAN_ISA names, if it is
/// set.
std::vector<const InstructionSet*> allowed_instruction_sets() {
  std::vector<const InstructionSet*> sets = offered_instruction_sets();
  const char* forced = std::getenv("DRAGOMAN_ISA");
  const std::string name = forced == nullptr ? "" : forced;
  if (name.empty()) return sets;
  const auto named = std::ranges::find(sets, name, &InstructionSet::name);
  if (named == sets.end()) {
    std::string offered;
    for (const InstructionSet* set : sets)
      offered += (offered.empty() ? "" : ", ") + std::string(set->name);
    throw Error("DRAGOMAN_ISA=", name, ": this processor offers ", offered);
  }
  sets.erase(sets.begin(), named);
  return sets;
}

const KernelTable& first_kernels(const std::vector<const InstructionSet*>& sets) {
  return *(*std::ranges::find_if(sets, &InstructionSet::kernels))->kernels;
}

}  // namespace

std::vector<const InstructionSet*> offered_instruction_sets() {
  const CpuFeatures& cpu = cpu_features();
  std::vector<const InstructionSet*> sets;
#define DRAGOMAN_OFFER(isa, offered) \
  if (offered) sets.push_back(&isa::kInstructionSet);
  DRAGOMAN_INSTRUCTION_SETS(DRAGOMAN_OFFER)
  return sets;
}

const KernelTable& kernels() {
  static const KernelTable& table = first_kernels(allowed_instruction_sets());
  return table;
}

const InferenceKernels& inference_kernels() {
  static const InferenceKernels& table = *allowed_instruction_sets().front()->inference;
  return table;
}

}  // namespace dragoman
