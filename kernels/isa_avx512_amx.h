// The instruction set AVX-512 with AMX: one instruction multiplies sixteen rows with sixteen
// outputs, 64 bytes each, in registers of two dimensions (Intel's Software Developer's Manual,
// volume 1, chapter 18). No processor with AMX has run these kernels yet, only an emulation of its
// instructions (tests/kernels/emulated_amx.cpp). So they are taken only if DRAGOMAN_ISA names them.
#pragma once

#include <immintrin.h>

#define DRAGOMAN_ISA avx512_amx
#define DRAGOMAN_ISA_OPTIONS                                                    \
  "amx-int8,amx-bf16,avx512bf16,avx512vnni,avx512f,avx512bw,avx512dq,avx512vl," \
  "avx2,fma,f16c,bmi,bmi2,amx-tile"
#define DRAGOMAN_ISA_STRUCT Avx512Amx

#include "kernels/isa_avx512_bf16.h"

DRAGOMAN_BEGIN_KERNELS

/// See AnyIsa::Tiles.
struct AmxTiles {
  __attribute__((always_inline)) explicit AmxTiles(std::int64_t rows) {
    struct {
      std::uint8_t palette, first_row, reserved[14];
      std::uint16_t bytes[16];  // of a row
      std::uint8_t rows[16];
    } shapes = {1, 0, {}, {}, {}};
    for (int tile = 0; tile < 8; ++tile) {
      shapes.bytes[tile] = 64;
      shapes.rows[tile] = tile < 5 ? (std::uint8_t)rows : 16;
    }
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  __attribute__((always_inline)) ~AmxTiles() { asm volatile("tilerelease"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int tile>
  DRAGOMAN_INLINE void load(const void* p, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(p), "r"(stride), "i"(tile) : "memory");
  }
  template <int tile>
  DRAGOMAN_INLINE void store(void* p, std::int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(p), "r"(stride), "i"(tile) : "memory");
  }
  template <int sums, int rows, int outputs>
  DRAGOMAN_INLINE void add_bytes() {
    asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(rows), "i"(outputs));
  }
  template <int sums, int rows, int outputs>
  DRAGOMAN_INLINE void add_bf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sums), "i"(rows), "i"(outputs));
  }
};

struct Avx512Amx : Avx512Bf16 {
  static constexpr bool kInferenceAlone = true;
  static constexpr bool kOnlyIfNamed = true;
  typedef AmxTiles Tiles;
};

DRAGOMAN_END_KERNELS
