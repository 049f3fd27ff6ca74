// Plain C++ on GCC's vector types, for any processor. The compiler turns it into instructions of
// the program's plain target. The other sets are faster.
#pragma once

#include <cstdint>

#define DRAGOMAN_ISA portable
#define DRAGOMAN_ISA_STRUCT Portable

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

struct Portable : AnyIsa<4> {
#ifndef __FP_FAST_FMAF
  DRAGOMAN_INLINE F32 fused(F32 a, F32 b, F32 c) { return fused_in_double(a, b, c); }
  DRAGOMAN_INLINE float fused(float a, float b, float c) { return fused_in_double(a, b, c); }
#endif

  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) { return __builtin_convertvector(bytes, I16x2); }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    const I32 even = ((I32)a << 16 >> 16) * ((I32)b << 16 >> 16);
    sum = sum + even + ((I32)a >> 16) * ((I32)b >> 16);
  }
};

DRAGOMAN_END_KERNELS
