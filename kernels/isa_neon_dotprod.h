// The instruction set NEON with DotProd: dot products of bytes are one instruction.
#pragma once

#include <arm_neon.h>

#ifndef DRAGOMAN_ISA  // else a set that has more includes this header
#define DRAGOMAN_ISA neon_dotprod
#define DRAGOMAN_ISA_OPTIONS "arch=armv8.2-a+dotprod"
#define DRAGOMAN_ISA_STRUCT NeonDotprod
#endif

#include "kernels/isa_neon.h"

DRAGOMAN_BEGIN_KERNELS

struct NeonDotprod : Neon {
  static constexpr bool kInferenceAlone = true;

  static constexpr bool kDotsBytes = true;
  DRAGOMAN_INLINE void add_bytes(I32& sum, I32 a, I32 b) {
    sum = (I32)vdotq_s32((int32x4_t)sum, (int8x16_t)a, (int8x16_t)b);
  }
};

DRAGOMAN_END_KERNELS
