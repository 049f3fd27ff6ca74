// The kernels for any x86-64 processor (and the yardstick of the others).
#include <emmintrin.h>  // SSE2, which every x86-64 processor has

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/linear_kernels.h"

namespace dragoman::portable {

namespace {
#define DRAGOMAN_LANES 4
#define DRAGOMAN_NO_FUSED
#define DRAGOMAN_MULTIPLY_ADD(sum, a, b) sum = sum + a * b
#define DRAGOMAN_WIDEN_BYTES(bytes) (I16x2) widen_bytes((long long)(bytes))
#define DRAGOMAN_DOT_PAIRS(a, b) (I32) _mm_madd_epi16((__m128i)(a), (__m128i)(b))
#include "kernels/training_kernels.inc"

DRAGOMAN_INLINE __m128i widen_bytes(long long bytes) {
  const __m128i x = _mm_cvtsi64_si128(bytes);
  return _mm_srai_epi16(_mm_unpacklo_epi8(x, x), 8);
}

#include "kernels/linear_kernels.inc"
}  // namespace

#define DRAGOMAN_ISA_NAME "portable"
#include "kernels/kernel_table.inc"
#include "kernels/linear_table.inc"

}  // namespace dragoman::portable
