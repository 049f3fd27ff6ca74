// The kernels for AVX-512 (F, BW, DQ, VL).
#include <cstdint>

#include "kernels/kernels.h"

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx512 {

namespace {
#define DRAGOMAN_LANES 16
#include "kernels/training_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx512"
#include "kernels/kernel_table.inc"

}  // namespace dragoman::avx512

#pragma GCC pop_options
