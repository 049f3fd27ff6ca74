// The instruction set AVX-512 with VNNI: dot products of bytes are one instruction.
#pragma once

#define DRAGOMAN_ISA avx512_vnni
#define DRAGOMAN_ISA_OPTIONS "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"

#include "kernels/avx512-inl.h"

DRAGOMAN_BEGIN_KERNELS

struct Isa : Avx512Vnni {
  static constexpr bool kInferenceAlone = true;
};

DRAGOMAN_END_KERNELS
