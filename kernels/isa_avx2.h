// The instruction set AVX2 with FMA.
#pragma once

#include <immintrin.h>

#ifndef DRAGOMAN_ISA  // else a set that has more includes this header
#define DRAGOMAN_ISA avx2
#define DRAGOMAN_ISA_OPTIONS "avx2,fma,f16c,bmi,bmi2"
#define DRAGOMAN_ISA_STRUCT Avx2
#endif

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

struct Avx2 : AnyIsa<8> {
  /// Without a copy of the sum, which g++ 12 would make.
  DRAGOMAN_INLINE void add_product(F32& sum, F32 a, F32 b) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  }
  /// g++ 12 makes two instructions of the general form if one argument is constant.
  DRAGOMAN_INLINE F32 maximum(F32 a, F32 b) { return (F32)_mm256_max_ps(a, b); }
  DRAGOMAN_INLINE std::uint32_t lanes_above(F32 a, F32 b) {
    return (std::uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ));
  }

  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) {
    return (I16x2)_mm256_cvtepi8_epi16((__m128i)bytes);
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    sum = sum + (I32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
  }
};

DRAGOMAN_END_KERNELS
