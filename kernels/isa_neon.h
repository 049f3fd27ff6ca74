// The instruction set NEON, which every 64-bit ARM processor has.
#pragma once

#include <arm_neon.h>

#ifndef DRAGOMAN_ISA  // else a set that has more includes this header
#define DRAGOMAN_ISA neon
#define DRAGOMAN_ISA_OPTIONS "+simd"
#define DRAGOMAN_ISA_STRUCT Neon
#endif

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

struct Neon : AnyIsa<4> {
  static constexpr int kRegisters = 32;

  DRAGOMAN_INLINE std::uint32_t lanes_above(F32 a, F32 b) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgtq_f32((float32x4_t)a, (float32x4_t)b), bits));
  }

  /// There are no vectors of four bytes: g++ 12 moves the bytes of the general form one by one.
  DRAGOMAN_INLINE I8 low_bytes(I32 numbers) {
    const int16x4_t words = vmovn_s32((int32x4_t)numbers);
    const int8x8_t bytes = vmovn_s16(vcombine_s16(words, words));
    I8 low;
    __builtin_memcpy(&low, &bytes, sizeof low);
    return low;
  }
  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) { return (I16x2)vmovl_s8((int8x8_t)bytes); }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
    const int32x4_t front = vmull_s16(vget_low_s16(x), vget_low_s16(y));
    sum = sum + (I32)vpaddq_s32(front, vmull_high_s16(x, y));
  }
};

DRAGOMAN_END_KERNELS
