// The instruction set SSE2, which every x86-64 processor has.
#pragma once

#include <emmintrin.h>

#define DRAGOMAN_ISA sse2
#define DRAGOMAN_ISA_OPTIONS "sse2"
#define DRAGOMAN_ISA_STRUCT Sse2

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

struct Sse2 : AnyIsa<4> {
  DRAGOMAN_INLINE F32 fused(F32 a, F32 b, F32 c) { return fused_in_double(a, b, c); }
  DRAGOMAN_INLINE float fused(float a, float b, float c) { return fused_in_double(a, b, c); }

  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) {
    const __m128i x = _mm_cvtsi64_si128((long long)bytes);
    return (I16x2)_mm_srai_epi16(_mm_unpacklo_epi8(x, x), 8);
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    sum = sum + (I32)_mm_madd_epi16((__m128i)a, (__m128i)b);
  }
};

DRAGOMAN_END_KERNELS
