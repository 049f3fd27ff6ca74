// The instruction set AVX2 with FMA.
#pragma once

#include <immintrin.h>

#define DRAGOMAN_ISA avx2
#define DRAGOMAN_ISA_OPTIONS "avx2,fma,f16c,bmi,bmi2"

#include "kernels/isa.h"

#define DRAGOMAN_LANES 8
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b))
#define DRAGOMAN_MAXIMUM(a, b) (F32) _mm256_max_ps(a, b)
#define DRAGOMAN_LANES_ABOVE(a, b) _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ))
#define DRAGOMAN_WIDEN_BYTES(bytes) (I16x2) _mm256_cvtepi8_epi16((__m128i)(bytes))
#define DRAGOMAN_DOT_PAIRS(a, b) (I32) _mm256_madd_epi16((__m256i)(a), (__m256i)(b))
