// The kernels for AVX2 with FMA.
#include <cstdint>

#include "kernels/kernels.h"

#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2")

namespace dragoman::avx2 {

namespace {
#define DRAGOMAN_LANES 8
#include "kernels/training_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "avx2"
#include "kernels/kernel_table.inc"

}  // namespace dragoman::avx2

#pragma GCC pop_options
