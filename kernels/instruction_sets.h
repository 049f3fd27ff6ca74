// The instruction sets that kernels are built for. isa.h says how one is added.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/inference_kernels.h"
#include "kernels/kernels.h"

namespace dragoman {

struct InstructionSet {
  std::string_view name;       ///< as the environment variable DRAGOMAN_ISA names it
  const KernelTable* kernels;  ///< null: the next set's are used, which are as fast
  const InferenceKernels* inference;
};

/// Those that this processor has, the best first.
std::vector<const InstructionSet*> offered_instruction_sets();

}  // namespace dragoman
