// The kernels for AVX-512 (F, BW, DQ, VL).
#include <immintrin.h>

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512 {

namespace {
#define DRAGOMAN_LANES 16
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_LOAD_BYTES(p) \
  (I32) _mm512_maskz_cvtepi8_epi32(0xFFFF, _mm_loadu_si128((const __m128i*)(p)))
#define DRAGOMAN_WIDEN_BYTES(bytes) (I16x2) _mm512_cvtepi8_epi16((__m256i)(bytes))
#define DRAGOMAN_DOT_PAIRS(a, b) (I32) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))
#include "kernels/training_kernels.inc"

#include "kernels/linear_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx512"
#include "kernels/kernel_table.inc"
#include "kernels/linear_table.inc"

}  // namespace dragoman::avx512

#pragma GCC pop_options
