// What the kernels of one instruction set stand in. A unit is compiled for one instruction set
// (CMakeLists.txt writes it): it includes the set's header, isa_NAME.h, and then tables-inl.h. The
// set's header says DRAGOMAN_ISA, its namespace, and DRAGOMAN_ISA_OPTIONS, what the compiler may
// use. All code of a unit is internal to it, so nothing compiled for one instruction set can be
// linked into another; what kernels share with the rest of the program stands in headers outside of
// DRAGOMAN_BEGIN_KERNELS and DRAGOMAN_END_KERNELS.
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
