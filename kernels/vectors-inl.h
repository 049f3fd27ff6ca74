// What all kernels build on: the vectors of one instruction set, as GCC's vector types; loading and
// storing, sums over lanes, exponentials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "kernels/isa.h"

/// `count` floats in the frame of the calling kernel, aligned for every vector. g++ 12 assumes this
/// alignment of alloca, but with the sanitizers it gives it only if asked.
#define DRAGOMAN_FRAME_FLOATS(count) \
  ((float*)__builtin_alloca_with_align(sizeof(float) * (count), 512))

DRAGOMAN_BEGIN_KERNELS

/// The most floats of DRAGOMAN_FRAME_FLOATS(count) if `count` has no small bound: the stack of a
/// thread may be small. More come from BeyondFrame.
constexpr std::int64_t kFloatsInFrame = 1 << 15;

/// `count` floats on the heap, aligned as those of a frame; none if they fit into the frame.
struct BeyondFrame {
  float* floats = nullptr;

  explicit BeyondFrame(std::int64_t count) {
    if (count > kFloatsInFrame)
      floats = (float*)::operator new((std::size_t)count * sizeof(float), kAlignment);
  }
  BeyondFrame(const BeyondFrame&) = delete;
  BeyondFrame& operator=(const BeyondFrame&) = delete;
  ~BeyondFrame() {
    if (floats != nullptr) ::operator delete(floats, kAlignment);
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
};

typedef DRAGOMAN_ISA_STRUCT Isa;

constexpr std::int64_t kLanes = Isa::kLanes;
typedef Isa::F32 F32;
typedef Isa::U32 U32;
typedef Isa::I32 I32;
typedef Isa::U16 U16;
typedef Isa::I16 I16;
typedef Isa::I8 I8;
typedef Isa::I16x2 I16x2;
typedef Isa::I8x2 I8x2;

struct Float {
  typedef float Type;
};
struct BFloat {
  typedef std::uint16_t Type;
};

/// x in all lanes. (x - 0 is x for every x, but x + 0 turns -0 into 0.)
DRAGOMAN_INLINE F32 splat(float x) { return x - F32{}; }

/// a * b + c, rounded once. Inference in int8 multiplies and adds floats with it, so that all
/// instruction sets give the same bits.
DRAGOMAN_INLINE F32 fused(F32 a, F32 b, F32 c) { return Isa::fused(a, b, c); }
DRAGOMAN_INLINE float fused(float a, float b, float c) { return Isa::fused(a, b, c); }

DRAGOMAN_INLINE F32 load(const float* p) {
  F32 x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}

DRAGOMAN_INLINE F32 load(const std::uint16_t* p) { return (F32)(Isa::load_halves(p) << 16); }

DRAGOMAN_INLINE void store(float* p, F32 x) { __builtin_memcpy(p, &x, sizeof x); }

/// Rounds to nearest, ties to even; NaN stays NaN.
DRAGOMAN_INLINE void store(std::uint16_t* p, F32 x) {
  const auto narrow = Isa::round_to_bf16(x);
  __builtin_memcpy(p, &narrow, sizeof narrow);
}

DRAGOMAN_INLINE I32 lane_numbers() {
  I32 numbers;
  for (int i = 0; i < kLanes; ++i) numbers[i] = i;
  return numbers;
}

/// x in the first `count` lanes, `fill` in the others.
DRAGOMAN_INLINE F32 keep_first(F32 x, std::int64_t count, float fill) {
  return lane_numbers() < (std::int32_t)count ? x : splat(fill);
}

template <class T>
DRAGOMAN_INLINE F32 load_part(const T* p, std::int64_t count, float fill) {
  T lanes[kLanes];
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = p[i];
  return keep_first(load(lanes), count, fill);
}

template <class T>
DRAGOMAN_INLINE F32 load_some(const T* p, std::int64_t count, float fill) {
  return count >= kLanes ? load(p) : load_part(p, count, fill);
}

template <class T>
DRAGOMAN_INLINE void store_some(T* p, F32 x, std::int64_t count) {
  if (count >= kLanes) {
    store(p, x);
  } else {
    T lanes[kLanes];
    store(lanes, x);
    for (std::int64_t i = 0; i < count; ++i) p[i] = lanes[i];
  }
}

template <class T>
DRAGOMAN_INLINE float element(const T* p) {
  T lanes[kLanes] = {*p};
  return load(lanes)[0];
}

template <class T>
DRAGOMAN_INLINE void store_element(T* p, float x) {
  T lanes[kLanes];
  store(lanes, splat(x));
  *p = lanes[0];
}

/// Each lane becomes the sum of all lanes with the same number modulo L, a power of two. For F32
/// and I32.
template <int L, class Vector>
DRAGOMAN_INLINE Vector sum_apart(Vector x) {
  const I32 numbers = lane_numbers();
#pragma GCC unroll 4
  for (std::int32_t half = kLanes / 2; half >= L; half /= 2) x = x + shuffled(x, numbers ^ half);
  return x;
}

DRAGOMAN_INLINE float sum_lanes(F32 x) { return sum_apart<1>(x)[0]; }

/// The sum of terms [0, count). add(sum, c, left) adds the terms of lanes c, c + 1, ... to `sum`;
/// if left < kLanes, only the first `left` lanes have a term, and the others must add zero. On each
/// instruction set there are 64 sums, each of every 64th term. So all sets add in the same order,
/// and several additions run at once.
template <class Add>
DRAGOMAN_INLINE float sum_of(std::int64_t count, Add&& add) {
  constexpr int kSums = 64 / kLanes;
  F32 sums[kSums];
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i) sums[i] = splat(0);
  std::int64_t c = 0;
  for (; c + 64 <= count; c += 64)
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = add(sums[i], c + i * kLanes, kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < kSums; ++i, c += kLanes)
    if (c < count) sums[i] = add(sums[i], c, count - c < kLanes ? count - c : kLanes);
#pragma GCC unroll 4
  for (int half = kSums / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  return sum_lanes(sums[0]);
}

/// b if either is NaN.
DRAGOMAN_INLINE F32 maximum(F32 a, F32 b) { return Isa::maximum(a, b); }
DRAGOMAN_INLINE I32 maximum(I32 a, I32 b) { return a > b ? a : b; }

/// Each lane becomes the largest of all lanes with the same number modulo L.
template <int L, class Vector>
DRAGOMAN_INLINE Vector max_apart(Vector x) {
  const I32 numbers = lane_numbers();
#pragma GCC unroll 4
  for (std::int32_t half = kLanes / 2; half >= L; half /= 2)
    x = maximum(shuffled(x, numbers ^ half), x);
  return x;
}

DRAGOMAN_INLINE float max_lanes(F32 x) { return max_apart<1>(x)[0]; }

constexpr float kLog2OfE = 1.44269504F;

/// exp(x) for x <= 0 (below -87 it is taken as -87), relative error under 2e-7: 2^n * polynomial,
/// of least relative error for |r| <= log(2) / 2. NaN stays NaN, so that a diverged model shows.
DRAGOMAN_INLINE F32 exp_of_negative(F32 x) {
  x = maximum(splat(-87.0F), x);
  const F32 magic = splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
  const F32 shifted = fused(x, splat(kLog2OfE), magic);
  const F32 n = shifted - magic;
  const F32 r = fused(n, splat(2.12194440e-4F), fused(n, splat(-0.693359375F), x));
  F32 p = splat(8.2902721e-3F);
  p = fused(p, r, splat(4.1898160e-2F));
  p = fused(p, r, splat(1.6667638e-1F));
  p = fused(p, r, splat(4.9999148e-1F));
  p = fused(p, r, splat(9.9999971e-1F));
  p = fused(p, r, splat(1));
  if constexpr (Isa::kTimesPower) return Isa::times_power(p, n);
  const I32 power = ((I32)shifted - (I32)magic + 127) << 23;
  return p * (F32)power;
}

/// 2^r for r in [0, 1].
DRAGOMAN_INLINE F32 power_of_fraction(F32 r) {
  F32 p = splat(1.87757667e-3F);
  p = fused(p, r, splat(8.98934009e-3F));
  p = fused(p, r, splat(5.58263181e-2F));
  p = fused(p, r, splat(2.40153617e-1F));
  p = fused(p, r, splat(6.93153073e-1F));
  return fused(p, r, splat(9.99999925e-1F));
}

/// 2^x, relative error under 2e-7; NaN stays NaN. Below -126 it is next to nothing, from 128 on
/// infinite.
DRAGOMAN_INLINE F32 power_of_two(F32 x) {
  if constexpr (Isa::kTimesPower) return Isa::times_power(power_of_fraction(Isa::fraction(x)), x);
  x = maximum(splat(-126), x > splat(128) ? splat(128) : x);
  const F32 magic = splat(12582912.0F), nearest = x + magic - magic;
  const F32 below = nearest - (nearest > x ? splat(1) : splat(0));
  return power_of_fraction(x - below) * (F32)(((I32)(below + magic) - (I32)magic + 127) << 23);
}

DRAGOMAN_END_KERNELS
