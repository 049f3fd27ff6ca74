// The instruction set AVX-512 (F, BW, DQ, VL). The masks are full: without masks g++ 12 warns
// of numbers that were never set.
#pragma once

#include <immintrin.h>

#ifndef DRAGOMAN_ISA  // else a set that has more includes this header
#define DRAGOMAN_ISA avx512
#define DRAGOMAN_ISA_OPTIONS "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"
#define DRAGOMAN_ISA_STRUCT Avx512
#endif

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

struct Avx512 : AnyIsa<16> {
  static constexpr int kRegisters = 32;

  /// Without a copy of the sum, which g++ 12 would make.
  DRAGOMAN_INLINE void add_product(F32& sum, F32 a, F32 b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  /// g++ 12 makes two instructions of the general form if one argument is constant.
  DRAGOMAN_INLINE F32 maximum(F32 a, F32 b) { return (F32)_mm512_maskz_max_ps(0xFFFF, a, b); }
  DRAGOMAN_INLINE std::uint32_t lanes_above(F32 a, F32 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
  }

  static constexpr bool kTimesPower = true;
  DRAGOMAN_INLINE F32 times_power(F32 x, F32 n) {
    return (F32)_mm512_maskz_scalef_ps(0xFFFF, x, n);
  }
  DRAGOMAN_INLINE F32 fraction(F32 x) { return (F32)_mm512_maskz_reduce_ps(0xFFFF, x, 9); }

  /// g++ 12 makes five instructions of the general form.
  DRAGOMAN_INLINE U32 load_halves(const std::uint16_t* p) {
    return (U32)_mm512_maskz_cvtepu16_epi32(0xFFFF, _mm256_loadu_si256((const __m256i*)p));
  }
  DRAGOMAN_INLINE I8 low_bytes(I32 numbers) {
    return (I8)_mm512_maskz_cvtepi32_epi8(0xFFFF, (__m512i)numbers);
  }
  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) {
    return (I16x2)_mm512_cvtepi8_epi16((__m256i)bytes);
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    sum = sum + (I32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
  }
};

DRAGOMAN_END_KERNELS
