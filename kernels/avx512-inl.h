// What all instruction sets with AVX-512 have. The masks are full: without them g++ 12 warns of
// numbers that were never set.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/any_isa-inl.h"

DRAGOMAN_BEGIN_KERNELS

struct Avx512 : AnyIsa<16> {
  static constexpr int kRegisters = 32;

  /// Without a copy of the sum, which g++ 12 would make.
  DRAGOMAN_INLINE void add_product(F32& sum, F32 a, F32 b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  /// g++ 12 makes two instructions of the general form where one argument is constant.
  DRAGOMAN_INLINE F32 maximum(F32 a, F32 b) { return (F32)_mm512_maskz_max_ps(0xFFFF, a, b); }
  DRAGOMAN_INLINE std::uint32_t lanes_above(F32 a, F32 b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
  }

  static constexpr bool kTimesPower = true;
  DRAGOMAN_INLINE F32 times_power(F32 x, F32 n) {
    return (F32)_mm512_maskz_scalef_ps(0xFFFF, x, n);
  }
  DRAGOMAN_INLINE F32 fraction(F32 x) { return (F32)_mm512_maskz_reduce_ps(0xFFFF, x, 9); }

  /// g++ 12 makes five instructions of the general form.
  DRAGOMAN_INLINE U32 load_halves(const std::uint16_t* p) {
    return (U32)_mm512_maskz_cvtepu16_epi32(0xFFFF, _mm256_loadu_si256((const __m256i*)p));
  }
  DRAGOMAN_INLINE I8 low_bytes(I32 numbers) {
    return (I8)_mm512_maskz_cvtepi32_epi8(0xFFFF, (__m512i)numbers);
  }
  DRAGOMAN_INLINE I16x2 widen_bytes(I8x2 bytes) {
    return (I16x2)_mm512_cvtepi8_epi16((__m256i)bytes);
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    sum = sum + (I32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
  }
};

/// With VNNI.
struct Avx512Vnni : Avx512 {
  static constexpr bool kDotsBytes = true;
  static constexpr std::int32_t kByteExcess = 128;
  DRAGOMAN_INLINE void add_bytes(I32& sum, I32 a, I32 b) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  DRAGOMAN_INLINE void add_pairs(I32& sum, I16x2 a, I16x2 b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
};

DRAGOMAN_END_KERNELS
