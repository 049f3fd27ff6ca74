// The kernels for AVX-512 (F, BW, DQ, VL).
#include <immintrin.h>

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512 {

namespace {
#include "kernels/avx512.inc"
#include "kernels/training_kernels.inc"

#include "kernels/linear_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx512"
#include "kernels/kernel_table.inc"
#include "kernels/linear_table.inc"

}  // namespace dragoman::avx512

#pragma GCC pop_options
