// The kernels for AVX2 with FMA.
#include <immintrin.h>

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx2 {

namespace {
#define DRAGOMAN_LANES 8
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b))
#define DRAGOMAN_MAXIMUM(a, b) (F32) _mm256_max_ps(a, b)
#define DRAGOMAN_LANES_ABOVE(a, b) _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ))
#define DRAGOMAN_WIDEN_BYTES(bytes) (I16x2) _mm256_cvtepi8_epi16((__m128i)(bytes))
#define DRAGOMAN_DOT_PAIRS(a, b) (I32) _mm256_madd_epi16((__m256i)(a), (__m256i)(b))
#include "kernels/training_kernels.inc"

#include "kernels/linear_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx2"
#include "kernels/kernel_table.inc"
#include "kernels/linear_table.inc"

}  // namespace dragoman::avx2

#pragma GCC pop_options
