// The instruction set AVX2 with AVX-VNNI: dot products of bytes are one instruction, in vectors of
// 256 bits.
#pragma once

#define DRAGOMAN_ISA avx_vnni
#define DRAGOMAN_ISA_OPTIONS "avxvnni,avx2,fma,f16c,bmi,bmi2"
#define DRAGOMAN_ISA_STRUCT AvxVnni

#include "kernels/isa_avx2.h"

DRAGOMAN_BEGIN_KERNELS

struct AvxVnni : Avx2 {
  static constexpr bool kInferenceAlone = true;

  static constexpr bool kDotsBytes = true;
  static constexpr std::int32_t kByteExcess = 128;
  /// {vex}: AVX-512 has the same instructions, and assemblers prefer those.
  DRAGOMAN_INLINE void add_bytes(I32& sum, I32 a, I32 b) {
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  }
};

DRAGOMAN_END_KERNELS
