// The kernels for AVX-512 (F, BW, DQ, VL) with VNNI and BF16: rounding to bf16 and dot products of
// bytes and of bf16 are one instruction.
#include <immintrin.h>

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

#pragma GCC push_options
#pragma GCC target( \
        "avx512bf16,avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512_bf16 {

namespace {
#include "kernels/avx512.inc"
#define DRAGOMAN_ROUND_TO_BF16(x) _mm512_cvtneps_pbh(x)
#define DRAGOMAN_ROUND_TWO_TO_BF16(low, high) _mm512_cvtne2ps_pbh(high, low)
#define DRAGOMAN_ADD_PAIRS(sum, a, b) asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_DOT_BYTES(sum, a, b) asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_DOT_BF16(sum, a, b) asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#include "kernels/training_kernels.inc"

#include "kernels/linear_kernels.inc"

#include "kernels/bf16_products.inc"

#include "kernels/projected_loss.inc"

#include "kernels/weight_gradient.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx512_bf16"
#include "kernels/kernel_table.inc"
#include "kernels/linear_table.inc"

}  // namespace dragoman::avx512_bf16

#pragma GCC pop_options
