// The instruction set NEON with DotProd, I8MM and BF16: one instruction multiplies two rows with
// two outputs, eight bytes each. Processors have had I8MM and BF16 together since ARMv8.6.
#pragma once

#include <arm_neon.h>

#define DRAGOMAN_ISA neon_i8mm
#define DRAGOMAN_ISA_OPTIONS "arch=armv8.2-a+dotprod+i8mm+bf16"
#define DRAGOMAN_ISA_STRUCT NeonI8mm

#include "kernels/isa_neon_dotprod.h"

DRAGOMAN_BEGIN_KERNELS

struct NeonI8mm : NeonDotprod {
  DRAGOMAN_INLINE bfloat16x4_t round_to_bf16(F32 x) { return vcvt_bf16_f32((float32x4_t)x); }

  static constexpr bool kDotsBf16 = true;
  static constexpr bool kDotsBlocks = true;
  DRAGOMAN_INLINE void add_block(I32& sum, I32 rows, I32 outputs) {
    sum = (I32)vmmlaq_s32((int32x4_t)sum, (int8x16_t)rows, (int8x16_t)outputs);
  }
  /// Rounds to odd, and takes numbers below 2^-126 as zero.
  DRAGOMAN_INLINE void add_block(F32& sum, I32 rows, I32 outputs) {
    sum = (F32)vbfmmlaq_f32((float32x4_t)sum, (bfloat16x8_t)rows, (bfloat16x8_t)outputs);
  }
};

DRAGOMAN_END_KERNELS
