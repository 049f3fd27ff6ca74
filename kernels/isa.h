// The frame around all kernels, and how an instruction set is added.
//
// CMakeLists.txt writes a source file for each isa_NAME.h. It includes isa_NAME.h and then
// tables-inl.h, so all kernels are compiled anew for each set. isa_NAME.h defines DRAGOMAN_ISA (the
// namespace), DRAGOMAN_ISA_OPTIONS (GCC's target options) and struct Isa, which derives from
// AnyIsa<lanes> (any_isa-inl.h). Kernels stand between DRAGOMAN_BEGIN_KERNELS and
// DRAGOMAN_END_KERNELS, in an unnamed namespace: code for one set is never linked into another.
// Types and functions that kernels share with the rest of the program stand outside of them.
//
// A new set for x86-64 needs isa_NAME.h, a line in dispatch.cpp, and its features in base/cpu.h and
// base/cpu.cpp. The tests in tests/kernels then run on it.
//
// The headers, low to high:
//   isa, any_isa, isa_NAME          the operations of a set
//   vectors                         the same for the kernels; sums, exponentials
//   matrices, operand_layout, pair_layout, dropout, places
//   training: attention_weights, column_sums, embedding, loss; with dot products of bf16 also
//     bf16_products, weight_gradient, projected_loss
//   training and inference: add_norm, packed_attention
//   inference: linear, activation, float_attention and byte_attention (called by row_attention),
//     token_choice
//   tables                          a table of pointers to all of them
#pragma once

#define DRAGOMAN_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define DRAGOMAN_TARGET(options) DRAGOMAN_PRAGMA(GCC target(options))
#define DRAGOMAN_BEGIN_KERNELS          \
  DRAGOMAN_PRAGMA(GCC push_options)     \
  DRAGOMAN_TARGET(DRAGOMAN_ISA_OPTIONS) \
  namespace dragoman::DRAGOMAN_ISA {    \
  namespace {
#define DRAGOMAN_END_KERNELS \
  }                          \
  }                          \
  DRAGOMAN_PRAGMA(GCC pop_options)

#define DRAGOMAN_INLINE static inline __attribute__((always_inline))

#ifndef DRAGOMAN_ISA
#include "kernels/isa_sse2.h"  // where a header of kernels is read alone
#endif
