// The instruction sets that kernels are built for. isa.h says how one is added.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "kernels/inference_kernels.h"
#include "kernels/kernels.h"

namespace dragoman {

struct InstructionSet {
  std::string_view name;          ///< as the environment variable DRAGOMAN_ISA names it
  std::string_view instructions;  ///< GCC's target options that its kernels are compiled with
  const BatchKernels* kernels;    ///< null: the next set's are used, which are as fast
  const InferenceKernels* inference;
  bool only_if_named;  ///< taken only if DRAGOMAN_ISA names it
};

/// Those of this architecture, the best first.
const std::vector<const InstructionSet*>& built_instruction_sets();

/// Those whose instructions are all supported (base/cpu.h), the best first.
std::vector<const InstructionSet*> offered_instruction_sets(
    const std::function<bool(std::string_view instructions)>& supports);

/// Those that this processor has, the best first.
std::vector<const InstructionSet*> offered_instruction_sets();

}  // namespace dragoman
