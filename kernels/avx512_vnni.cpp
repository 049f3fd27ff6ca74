// The kernels of inference for AVX-512 with VNNI: dot products of bytes in one instruction.
#include <immintrin.h>

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

#pragma GCC push_options
#pragma GCC target("avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512_vnni {

namespace {
#include "kernels/avx512.inc"
#define DRAGOMAN_ADD_PAIRS(sum, a, b) asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_DOT_BYTES(sum, a, b) asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#include "kernels/vectors.inc"

#include "kernels/linear_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx512_vnni"
#include "kernels/linear_table.inc"

}  // namespace dragoman::avx512_vnni

#pragma GCC pop_options
