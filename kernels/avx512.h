// What all instruction sets with AVX-512 have.
#pragma once

#define DRAGOMAN_LANES 16
#define DRAGOMAN_WIDEN_BYTES(bytes) (I16x2) _mm512_cvtepi8_epi16((__m256i)(bytes))
#define DRAGOMAN_DOT_PAIRS(a, b) (I32) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_MAXIMUM(a, b) (F32) _mm512_maskz_max_ps(0xFFFF, a, b)
#define DRAGOMAN_FRACTION(x) (F32) _mm512_maskz_reduce_ps(0xFFFF, x, 9)  // less the number below
#define DRAGOMAN_TIMES_POWER(x, n) (F32) _mm512_maskz_scalef_ps(0xFFFF, x, n)
#define DRAGOMAN_LANES_ABOVE(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define DRAGOMAN_LOW_BYTES(x) _mm512_maskz_cvtepi32_epi8(0xFFFF, (__m512i)(x))
#define DRAGOMAN_LOAD_SHORTS(p) \
  (U32) _mm512_maskz_cvtepu16_epi32(0xFFFF, _mm256_loadu_si256((const __m256i*)(p)))
