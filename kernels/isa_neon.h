// The instruction set NEON, which every 64-bit ARM processor has.
#pragma once

#define DRAGOMAN_ISA neon
#define DRAGOMAN_ISA_OPTIONS "+simd"

#include "kernels/neon-inl.h"

DRAGOMAN_BEGIN_KERNELS

typedef Neon Isa;

DRAGOMAN_END_KERNELS
