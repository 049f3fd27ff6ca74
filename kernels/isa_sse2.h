// The instruction set SSE2, which every x86-64 processor has.
#pragma once

#include <emmintrin.h>

#define DRAGOMAN_ISA sse2
#define DRAGOMAN_ISA_OPTIONS "sse2"

#include "kernels/isa.h"

#define DRAGOMAN_LANES 4
#define DRAGOMAN_NO_FUSED
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) sum = sum + a * b
#define DRAGOMAN_WIDEN_BYTES(bytes) (I16x2) widen_bytes((long long)(bytes))
#define DRAGOMAN_DOT_PAIRS(a, b) (I32) _mm_madd_epi16((__m128i)(a), (__m128i)(b))

DRAGOMAN_BEGIN_KERNELS

DRAGOMAN_INLINE __m128i widen_bytes(long long bytes) {
  const __m128i x = _mm_cvtsi64_si128(bytes);
  return _mm_srai_epi16(_mm_unpacklo_epi8(x, x), 8);
}

DRAGOMAN_END_KERNELS
