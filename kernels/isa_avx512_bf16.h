// The instruction set AVX-512 with VNNI and BF16: rounding to bf16 and dot products of bytes and of
// bf16 are one instruction.
#pragma once

#include <immintrin.h>

#define DRAGOMAN_ISA avx512_bf16
#define DRAGOMAN_ISA_OPTIONS \
  "avx512bf16,avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"

#include "kernels/avx512.h"
#include "kernels/isa.h"

#define DRAGOMAN_ROUND_TO_BF16(x) _mm512_cvtneps_pbh(x)
#define DRAGOMAN_ROUND_TWO_TO_BF16(low, high) _mm512_cvtne2ps_pbh(high, low)
#define DRAGOMAN_ADD_PAIRS(sum, a, b) asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_DOT_BYTES(sum, a, b) asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_DOT_BF16(sum, a, b) asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
