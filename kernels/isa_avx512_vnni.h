// The instruction set AVX-512 with VNNI: dot products of bytes are one instruction.
#pragma once

#include <immintrin.h>

#define DRAGOMAN_ISA avx512_vnni
#define DRAGOMAN_ISA_OPTIONS "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2"
#define DRAGOMAN_INFERENCE_ALONE

#include "kernels/avx512.h"
#include "kernels/isa.h"

#define DRAGOMAN_ADD_PAIRS(sum, a, b) asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define DRAGOMAN_DOT_BYTES(sum, a, b) asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
