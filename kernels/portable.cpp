// The kernels for any x86-64 processor (and the yardstick of the others).
#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

namespace dragoman::portable {

namespace {
#define DRAGOMAN_LANES 4
#define DRAGOMAN_NO_FUSED
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) sum = sum + a * b
#define DRAGOMAN_WIDEN_BYTES(bytes) __builtin_convertvector(bytes, I16x2)
#define DRAGOMAN_DOT_PAIRS(a, b) dot_pairs(a, b)
#include "kernels/training_kernels.inc"

typedef std::int16_t Pairs __attribute__((vector_size(4 * kLanes)));

/// Sums of the products of neighbours.
DRAGOMAN_INLINE I32 dot_pairs(Pairs a, Pairs b) {
  I32 sums;
  for (int i = 0; i < kLanes; ++i) sums[i] = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
  return sums;
}

#include "kernels/linear_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "portable"
#include "kernels/kernel_table.inc"
#include "kernels/linear_table.inc"

}  // namespace dragoman::portable
