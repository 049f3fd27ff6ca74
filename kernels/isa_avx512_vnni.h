// The instruction set AVX-512 with VNNI: dot products of bytes are one instruction.
#pragma once

#ifndef DRAGOMAN_ISA  // else a set that has more includes this header
#define DRAGOMAN_ISA avx512_vnni
#define DRAGOMAN_ISA_OPTIONS "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"
#define DRAGOMAN_ISA_STRUCT Avx512Vnni
#endif

#include "kernels/isa_avx512.h"

DRAGOMAN_BEGIN_KERNELS

struct Avx512Vnni : Avx512 {
  static constexpr bool kInferenceAlone = true;

  static constexpr bool kDotsBytes = true;
  static constexpr std::int32_t kByteExcess = 128;
  DRAGOMAN_INLINE void add_bytes(I32& sum, I32 a, I32 b) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

DRAGOMAN_END_KERNELS
