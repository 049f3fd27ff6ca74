// The frame around all kernels, the operations of any instruction set, and how a set is added.
//
// cmake/kernels.cmake writes a source file for each isa_NAME.h of the architecture. It includes
// isa_NAME.h and then tables-inl.h, so all kernels are compiled again for each set. isa_NAME.h
// defines DRAGOMAN_ISA (the namespace), DRAGOMAN_ISA_OPTIONS (GCC's target options; without it, the
// plain target's) and DRAGOMAN_ISA_STRUCT, the struct with the set's operations, which kernels call
// Isa. A set may include the header of a smaller one and derive from its struct. Kernels stand
// between DRAGOMAN_BEGIN_KERNELS and DRAGOMAN_END_KERNELS, in an unnamed namespace: code for one
// set is never linked into another. Types and functions that kernels share with the rest of the
// program stand outside of them.
//
// A new set needs isa_NAME.h and a line in dispatch.cpp. The set is offered if the processor has
// all instructions of DRAGOMAN_ISA_OPTIONS, whose names base/cpu.cpp knows. The tests
// in tests/kernels then run on it. A family of sets that is new to an architecture needs a pattern
// of file names in cmake/kernels.cmake.
//
// The headers, low to high:
//   isa, isa_NAME                   the operations of a set
//   vectors                         the same for the kernels; sums, exponentials
//   operand_layout, dropout
//   training: embedding, loss; with dot products of bf16 also bf16_products
//   training and inference: add_norm, attention
//   inference: linear, row_attention, token_choice
//   tables                          a table of pointers to all of them
#pragma once

#include <cstdint>

#ifndef DRAGOMAN_ISA  // if a header of kernels is read alone
#define DRAGOMAN_ISA portable
#define DRAGOMAN_READ_ALONE
#endif

#define DRAGOMAN_PRAGMA(...) _Pragma(#__VA_ARGS__)
#if defined DRAGOMAN_ISA_OPTIONS && defined __clang__
#define DRAGOMAN_TARGET(options) \
  DRAGOMAN_PRAGMA(clang attribute push(__attribute__((target(options))), apply_to = function))
#define DRAGOMAN_BEGIN_TARGET DRAGOMAN_TARGET(DRAGOMAN_ISA_OPTIONS)
#define DRAGOMAN_END_TARGET DRAGOMAN_PRAGMA(clang attribute pop)
#elif defined DRAGOMAN_ISA_OPTIONS
#define DRAGOMAN_TARGET(options) DRAGOMAN_PRAGMA(GCC target(options))
#define DRAGOMAN_BEGIN_TARGET       \
  DRAGOMAN_PRAGMA(GCC push_options) \
  DRAGOMAN_TARGET(DRAGOMAN_ISA_OPTIONS)
#define DRAGOMAN_END_TARGET DRAGOMAN_PRAGMA(GCC pop_options)
#else
#define DRAGOMAN_BEGIN_TARGET
#define DRAGOMAN_END_TARGET
#endif
// The pragmas stand at the ends: GCC 14 loses what follows a target in a macro.
#define DRAGOMAN_BEGIN_KERNELS       \
  namespace dragoman::DRAGOMAN_ISA { \
  namespace {                        \
  DRAGOMAN_BEGIN_TARGET
#define DRAGOMAN_END_KERNELS \
  }                          \
  }                          \
  DRAGOMAN_END_TARGET

#define DRAGOMAN_INLINE static inline __attribute__((always_inline))

DRAGOMAN_BEGIN_KERNELS

/// The lanes of a and b (its numbers follow those of a) that `from` counts, as GCC's built-in
/// function gives them.
template <class V, class Numbers>
DRAGOMAN_INLINE V shuffled(V a, V b, Numbers from) {
#ifdef __clang__  // which has no such function, but finds the instructions
  constexpr int kLanes = sizeof(V) / sizeof(a[0]);
  V lanes;
  for (int i = 0; i < kLanes; ++i) {
    const int lane = (int)from[i] & (2 * kLanes - 1);
    lanes[i] = lane < kLanes ? a[lane] : b[lane - kLanes];
  }
  return lanes;
#else
  return __builtin_shuffle(a, b, from);
#endif
}
template <class V, class Numbers>
DRAGOMAN_INLINE V shuffled(V a, Numbers from) {
#ifdef __clang__
  constexpr int kLanes = sizeof(V) / sizeof(a[0]);
  return shuffled(a, a, from & (kLanes - 1));
#else
  return __builtin_shuffle(a, from);
#endif
}

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

/// Operations on GCC's vector types that work with any instruction set. A set's struct derives from
/// it and overrides the operations that the set does in fewer instructions. It must add two that
/// have no general form:
///   I16x2 widen_bytes(I8x2 bytes)                 each byte to 16 bits, with its sign
///   void add_pairs(I32& sum, I16x2 a, I16x2 b)    sum[i] += a[2i] * b[2i] + a[2i+1] * b[2i+1]
/// A set with DRAGOMAN_BF16_PRODUCTS also adds round_two_to_bf16(F32 low, F32 high), and has 16
/// lanes.
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

  /// True if training would not be faster than with the next set of dispatch.cpp: then the set has
  /// kernels only for inference.
  static constexpr bool kInferenceAlone = false;
  /// True if no processor has shown yet that the set is faster than the next one: then it is taken
  /// only if DRAGOMAN_ISA names it.
  static constexpr bool kOnlyIfNamed = false;

  static constexpr int kRegisters = 16;  ///< for vectors

  /// a * b + c, rounded once: the compiler contracts it to one instruction.
  DRAGOMAN_INLINE F32 fused(F32 a, F32 b, F32 c) { return a * b + c; }
  DRAGOMAN_INLINE float fused(float a, float b, float c) { return a * b + c; }
  /// The same for sets without such an instruction: computed in double, so it rounds twice. The
  /// result seldom differs from that of one rounding.
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
  /// sum += a * b, in place.
  DRAGOMAN_INLINE void add_product(F32& sum, F32 a, F32 b) { sum = sum + a * b; }

  /// b if either is NaN.
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
  // if not, they are never called.

  static constexpr bool kTimesPower = false;
  static F32 times_power(F32 x, F32 n);  ///< x * 2^(the whole number below n)
  static F32 fraction(F32 x);            ///< x less the whole number below it, in [0, 1]

  static constexpr bool kDotsBytes = false;
  /// Adds to each lane of sum the products of four bytes of a with four signed bytes of b. If a set
  /// lacks it, kernels widen bytes and use add_pairs().
  static void add_bytes(I32& sum, I32 a, I32 b);
  /// The difference between a byte of `a` and the number that it stands for: 128 if add_bytes takes
  /// bytes without a sign.
  static constexpr std::int32_t kByteExcess = 0;

  static constexpr bool kDotsBf16 = false;
  /// Adds to each lane of sum the products of two numbers in bf16.
  static void add_bf16(F32& sum, I32 a, I32 b);

  /// Then linear layers multiply blocks instead, and kByteExcess is 0.
  static constexpr bool kDotsBlocks = false;
  /// Adds to sum [2, 2] the products of two rows with two outputs, eight bytes each: signed bytes,
  /// or numbers in bf16.
  static void add_block(I32& sum, I32 rows, I32 outputs);
  static void add_block(F32& sum, I32 rows, I32 outputs);

  /// Registers of two dimensions, if the set has them: it has kLanes 16 and kRegisters 32, and
  /// packs groups of four bytes and pairs of bf16. Tiles(rows) gives the calling thread eight
  /// registers of 64-byte rows, until it is destroyed: 0 to 4 have `rows` rows (1 to 16), 5 to 7
  /// sixteen. Its functions take the numbers of registers as template arguments:
  ///   load<t>(p, stride), store<t>(p, stride)   rows that are `stride` bytes apart
  ///   add_bytes<sums, rows, outputs>()          see below
  ///   add_bf16<sums, rows, outputs>()           the same of pairs in bf16
  /// Word n of row m of `sums` gets the products of words 0 to 15 of row m of `rows` with word n of
  /// rows 0 to 15 of `outputs`: those of four bytes, as in add_bytes above.
  typedef void Tiles;
};

DRAGOMAN_END_KERNELS

#ifdef DRAGOMAN_READ_ALONE
#include "kernels/isa_portable.h"
#endif
