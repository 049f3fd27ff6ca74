// Operations on GCC's vector types that work with any instruction set. A set's header derives Isa
// from AnyIsa. It overrides the operations that the set does in fewer instructions, and it must add
// two that have no general form:
//   I16x2 widen_bytes(I8x2 bytes)                 each byte to 16 bits, with its sign
//   void add_pairs(I32& sum, I16x2 a, I16x2 b)    sum[i] += a[2i] * b[2i] + a[2i+1] * b[2i+1]
// A set with DRAGOMAN_BF16_PRODUCTS also adds round_two_to_bf16(F32 low, F32 high), and has 16
// lanes.
#pragma once

#include <cstdint>

#include "kernels/isa.h"

DRAGOMAN_BEGIN_KERNELS

/// Vectors with one number in each lane; x2: with two.
template <int lanes>
struct VectorTypes {
  typedef float F32 __attribute__((vector_size(4 * lanes)));
  typedef std::uint32_t U32 __attribute__((vector_size(4 * lanes)));
  typedef std::int32_t I32 __attribute__((vector_size(4 * lanes)));
  typedef std::uint16_t U16 __attribute__((vector_size(2 * lanes)));
  typedef std::int16_t I16 __attribute__((vector_size(2 * lanes)));
  typedef std::int8_t I8 __attribute__((vector_size(lanes)));
  typedef std::int16_t I16x2 __attribute__((vector_size(4 * lanes)));
  typedef std::int8_t I8x2 __attribute__((vector_size(2 * lanes)));
};

template <int lanes>
struct AnyIsa {
  static constexpr std::int64_t kLanes = lanes;
  typedef typename VectorTypes<lanes>::F32 F32;
  typedef typename VectorTypes<lanes>::U32 U32;
  typedef typename VectorTypes<lanes>::I32 I32;
  typedef typename VectorTypes<lanes>::U16 U16;
  typedef typename VectorTypes<lanes>::I16 I16;
  typedef typename VectorTypes<lanes>::I8 I8;
  typedef typename VectorTypes<lanes>::I16x2 I16x2;
  typedef typename VectorTypes<lanes>::I8x2 I8x2;

  /// True where training would not be faster than with the next set of dispatch.cpp: then the set
  /// has kernels for inference alone.
  static constexpr bool kInferenceAlone = false;

  static constexpr int kRegisters = 16;  ///< for vectors

  /// a * b + c, rounded once, where the compiler may contract it to one instruction.
  DRAGOMAN_INLINE F32 fused(F32 a, F32 b, F32 c) { return a * b + c; }
  DRAGOMAN_INLINE float fused(float a, float b, float c) { return a * b + c; }
  /// The same where there is no such instruction. In double, so it rounds twice. The result seldom
  /// differs from that of one rounding.
  DRAGOMAN_INLINE F32 fused_in_double(F32 a, F32 b, F32 c) {
    typedef double F64 __attribute__((vector_size(8 * lanes)));
    return __builtin_convertvector(
        __builtin_convertvector(a, F64) * __builtin_convertvector(b, F64) +
            __builtin_convertvector(c, F64),
        F32);
  }
  DRAGOMAN_INLINE float fused_in_double(float a, float b, float c) {
    return (float)((double)a * b + c);
  }
  /// sum += a * b, where it stands.
  DRAGOMAN_INLINE void add_product(F32& sum, F32 a, F32 b) { sum = sum + a * b; }

  /// b where either is NaN.
  DRAGOMAN_INLINE F32 maximum(F32 a, F32 b) { return a > b ? a : b; }
  /// A bit for each lane in which a is greater.
  DRAGOMAN_INLINE std::uint32_t lanes_above(F32 a, F32 b) {
    std::uint32_t bits = 0;
    for (int i = 0; i < lanes; ++i) bits |= (std::uint32_t)(a[i] > b[i]) << i;
    return bits;
  }

  DRAGOMAN_INLINE U32 load_halves(const std::uint16_t* p) {
    U16 bits;
    __builtin_memcpy(&bits, p, sizeof bits);
    return __builtin_convertvector(bits, U32);
  }
  /// To nearest, ties to even; NaN stays NaN.
  DRAGOMAN_INLINE U16 round_to_bf16(F32 x) {
    const U32 bits = (U32)x;
    const U32 rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
    const U32 nan = (U32)(x != x);
    return __builtin_convertvector((rounded & ~nan) | (nan & 0x7FC0), U16);
  }
  DRAGOMAN_INLINE I8 low_bytes(I32 numbers) {
    return __builtin_convertvector(__builtin_convertvector(numbers, I16), I8);
  }

  // Operations that are one instruction of some sets. The constant says whether the set has them;
  // without it they are never called.

  static constexpr bool kTimesPower = false;
  static F32 times_power(F32 x, F32 n);  ///< x * 2^(the whole number below n)
  static F32 fraction(F32 x);            ///< x less the whole number below it, in [0, 1]

  static constexpr bool kDotsBytes = false;
  /// Adds to each lane of sum the products of four bytes of a with four signed bytes of b. Without
  /// it kernels widen bytes and use add_pairs().
  static void add_bytes(I32& sum, I32 a, I32 b);
  /// What a byte of `a` has more than the number that it stands for: 128 where add_bytes takes it
  /// without a sign.
  static constexpr std::int32_t kByteExcess = 0;

  static constexpr bool kDotsBf16 = false;
  /// To each lane of sum the products of two numbers in bf16.
  static void add_bf16(F32& sum, I32 a, I32 b);
};

DRAGOMAN_END_KERNELS
