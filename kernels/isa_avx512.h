// The instruction set AVX-512 (F, BW, DQ, VL).
#pragma once

#define DRAGOMAN_ISA avx512
#define DRAGOMAN_ISA_OPTIONS "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"

#include "kernels/avx512-inl.h"

DRAGOMAN_BEGIN_KERNELS

typedef Avx512 Isa;

DRAGOMAN_END_KERNELS
