// The instruction sets that kernels are built for. Each has a header of its own, isa_NAME.h, and a
// line in dispatch.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/inference_kernels.h"
#include "kernels/kernels.h"

namespace dragoman {

struct InstructionSet {
  std::string_view name;       ///< as the environment's DRAGOMAN_ISA says it
  const KernelTable* kernels;  ///< null: those of the next set are as fast
  const InferenceKernels* inference;
};

/// Those that this processor has, the best first.
std::vector<const InstructionSet*> offered_instruction_sets();

}  // namespace dragoman
