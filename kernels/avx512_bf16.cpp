// The kernels for AVX-512 (F, BW, DQ, VL) with BF16: rounding to bf16 is one instruction.
#include <immintrin.h>

#include <cstdint>

#include "kernels/kernels.h"

#pragma GCC push_options
#pragma GCC target("avx512bf16,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512_bf16 {

namespace {
#define DRAGOMAN_LANES 16
#define DRAGOMAN_ROUND_TO_BF16(x) _mm512_cvtneps_pbh(x)
#include "kernels/training_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx512_bf16"
#include "kernels/kernel_table.inc"

}  // namespace dragoman::avx512_bf16

#pragma GCC pop_options
