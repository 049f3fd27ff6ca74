// The frame around all kernels, and how an instruction set is added.
//
// cmake/kernels.cmake writes a source file for each isa_NAME.h of the architecture. It includes
// isa_NAME.h and then tables-inl.h, so all kernels are compiled anew for each set. isa_NAME.h
// defines DRAGOMAN_ISA (the namespace), DRAGOMAN_ISA_OPTIONS (GCC's target options; none: the plain
// target's) and struct Isa, which derives from AnyIsa<lanes> (any_isa-inl.h). Kernels stand between
// DRAGOMAN_BEGIN_KERNELS and DRAGOMAN_END_KERNELS, in an unnamed namespace: code for one set is
// never linked into another. Types and functions that kernels share with the rest of the program
// stand outside of them.
//
// A new set needs isa_NAME.h and a line in dispatch.cpp. The set is offered where the processor has
// all instructions of DRAGOMAN_ISA_OPTIONS, whose names base/cpu_ARCHITECTURE.cpp knows. The tests
// in tests/kernels then run on it. A family of sets that is new to an architecture needs a pattern
// of file names in cmake/kernels.cmake.
//
// The headers, low to high:
//   isa, any_isa, isa_NAME          the operations of a set
//   vectors                         the same for the kernels; sums, exponentials
//   matrices, operand_layout, pair_layout, dropout, cached_attention
//   training: attention_weights, column_sums, embedding, loss; with dot products of bf16 also
//     bf16_products, weight_gradient, projected_loss
//   training and inference: add_norm, packed_attention
//   inference: linear, activation, float_attention and byte_attention (called by row_attention),
//     token_choice
//   tables                          a table of pointers to all of them
#pragma once

#define DRAGOMAN_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef DRAGOMAN_ISA_OPTIONS
#define DRAGOMAN_TARGET(options) DRAGOMAN_PRAGMA(GCC target(options))
#define DRAGOMAN_BEGIN_TARGET       \
  DRAGOMAN_PRAGMA(GCC push_options) \
  DRAGOMAN_TARGET(DRAGOMAN_ISA_OPTIONS)
#define DRAGOMAN_END_TARGET DRAGOMAN_PRAGMA(GCC pop_options)
#else
#define DRAGOMAN_BEGIN_TARGET
#define DRAGOMAN_END_TARGET
#endif
#define DRAGOMAN_BEGIN_KERNELS       \
  DRAGOMAN_BEGIN_TARGET              \
  namespace dragoman::DRAGOMAN_ISA { \
  namespace {
#define DRAGOMAN_END_KERNELS \
  }                          \
  }                          \
  DRAGOMAN_END_TARGET

#define DRAGOMAN_INLINE static inline __attribute__((always_inline))

#ifndef DRAGOMAN_ISA
#include "kernels/isa_portable.h"  // where a header of kernels is read alone
#endif
