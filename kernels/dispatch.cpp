#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "base/formatted_text.h"
#include "kernels/inference_kernels.h"
#include "kernels/instruction_sets.h"
#include "kernels/kernels.h"

// A line for each instruction set of an architecture, the best first: its namespace.
// clang-format off
#if defined(__x86_64__)
#define DRAGOMAN_INSTRUCTION_SETS(set) \
  set(avx512_amx)                      \
  set(avx512_bf16)                     \
  set(avx512_vnni)                     \
  set(avx512)                          \
  set(avx_vnni)                        \
  set(avx2)                            \
  set(sse2)                            \
  set(portable)
#elif defined(__aarch64__)
#define DRAGOMAN_INSTRUCTION_SETS(set) \
  set(neon_i8mm)                       \
  set(neon_dotprod)                    \
  set(neon)                            \
  set(portable)
#else
#define DRAGOMAN_INSTRUCTION_SETS(set) \
  set(portable)
#endif
// clang-format on

namespace dragoman {

#define DRAGOMAN_DECLARE(isa)                  \
  namespace isa {                              \
  extern const InstructionSet kInstructionSet; \
  }
DRAGOMAN_INSTRUCTION_SETS(DRAGOMAN_DECLARE)

namespace {

/// The sets of this processor, best first, without those that must be named. If DRAGOMAN_ISA is
/// set, they begin with the one that it names.
std::vector<const InstructionSet*> allowed_instruction_sets() {
  std::vector<const InstructionSet*> sets = offered_instruction_sets();
  const char* forced = std::getenv("DRAGOMAN_ISA");
  const std::string name = forced == nullptr ? "" : forced;
  if (name.empty()) {
    std::erase_if(sets, [](const InstructionSet* set) { return set->only_if_named; });
    return sets;
  }
  const auto named = std::ranges::find(sets, name, &InstructionSet::name);
  if (named == sets.end())
    throw Error("DRAGOMAN_ISA=", name, ": this processor offers ",
                joined(sets, ", ", &InstructionSet::name));
  sets.erase(sets.begin(), named);
  return sets;
}

const BatchKernels* first_kernels(const std::vector<const InstructionSet*>& sets) {
  return (*std::ranges::find_if(sets, &InstructionSet::kernels))->kernels;
}

}  // namespace

const std::vector<const InstructionSet*>& built_instruction_sets() {
#define DRAGOMAN_ADDRESS(isa) &isa::kInstructionSet,
  static const std::vector<const InstructionSet*> sets = {
      DRAGOMAN_INSTRUCTION_SETS(DRAGOMAN_ADDRESS)};
  return sets;
}

std::vector<const InstructionSet*> offered_instruction_sets(
    const std::function<bool(std::string_view instructions)>& supports) {
  std::vector<const InstructionSet*> sets;
  for (const InstructionSet* set : built_instruction_sets())
    if (supports_all(set->instructions, supports)) sets.push_back(set);
  return sets;
}

std::vector<const InstructionSet*> offered_instruction_sets() {
  return offered_instruction_sets(cpu_supports);
}

const BatchKernels& batch_kernels() {
  static const BatchKernels& table = *first_kernels(allowed_instruction_sets());
  return table;
}

const InferenceKernels& inference_kernels() {
  static const InferenceKernels& table = *allowed_instruction_sets().front()->inference;
  return table;
}

}  // namespace dragoman
