// The instruction set AVX-512 with VNNI and BF16: rounding to bf16 and dot products of bytes and of
// bf16 are one instruction.
#pragma once

#include <immintrin.h>

#ifndef DRAGOMAN_ISA  // else a set that has more includes this header
#define DRAGOMAN_ISA avx512_bf16
#define DRAGOMAN_ISA_OPTIONS \
  "avx512bf16,avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"
#define DRAGOMAN_ISA_STRUCT Avx512Bf16
#define DRAGOMAN_BF16_PRODUCTS  // the tables have products of bf16
#endif

#include "kernels/isa_avx512_vnni.h"

DRAGOMAN_BEGIN_KERNELS

struct Avx512Bf16 : Avx512Vnni {
  static constexpr bool kInferenceAlone = false;

  /// Numbers below 2^-126 become zero.
  DRAGOMAN_INLINE __m256bh round_to_bf16(F32 x) { return _mm512_cvtneps_pbh(x); }
  DRAGOMAN_INLINE __m512bh round_two_to_bf16(F32 low, F32 high) {
    return _mm512_cvtne2ps_pbh(high, low);
  }

  static constexpr bool kDotsBf16 = true;
  DRAGOMAN_INLINE void add_bf16(F32& sum, I32 a, I32 b) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

DRAGOMAN_END_KERNELS
