// The choice of tokens from a row of logits.
#pragma once

#include <cstdint>

#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// The largest of the values in each of sixteen columns, with value c in column c % 16; NaN is
/// left out.
DRAGOMAN_INLINE void column_maxima(const float* values, std::int64_t count, float (&largest)[16]) {
  constexpr int kMaxima = 16 / kLanes;
  const float low = -__builtin_inff();
  F32 maxima[kMaxima];
#pragma GCC unroll 4
  for (int i = 0; i < kMaxima; ++i) maxima[i] = splat(low);
  std::int64_t c = 0;
  for (; c + 16 <= count; c += 16)
#pragma GCC unroll 4
    for (int i = 0; i < kMaxima; ++i) maxima[i] = maximum(load(values + c + i * kLanes), maxima[i]);
#pragma GCC unroll 4
  for (int i = 0; i < kMaxima; ++i, c += kLanes) {
    if (c < count) maxima[i] = maximum(load_some(values + c, count - c, low), maxima[i]);
    store(largest + i * kLanes, maxima[i]);
  }
}

float largest(const float* values, std::int64_t count) {
  float maxima[16], most = -__builtin_inff();
  column_maxima(values, count, maxima);
  for (const float value : maxima) most = value > most ? value : most;
  return most;
}

float exponential_sum(const float* values, std::int64_t count, float reference) {
  const F32 shift = splat(reference * -kLog2OfE);
  return sum_of(
      count, [&](F32 sum, std::int64_t c, std::int64_t left) __attribute__((always_inline)) {
        const F32 x = load_some(values + c, left, 0);
        const F32 e = power_of_two(fused(x, splat(kLog2OfE), shift));
        return sum + keep_first(e, left, 0);
      });
}

/// A value that at least `best` of these reach; minus infinity if none is known.
DRAGOMAN_INLINE float reached_by(std::int64_t best, const float* values, std::int64_t count) {
  if (best > 16) return -__builtin_inff();
  float maxima[16], reached = __builtin_inff();
  column_maxima(values, count, maxima);
  std::int32_t above[16] = {};
  for (const float value : maxima)
    for (int i = 0; i < 16; ++i) above[i] += value > maxima[i];
  for (int i = 0; i < 16; ++i)
    if (above[i] < best && maxima[i] < reached) reached = maxima[i];
  return reached;
}

/// Inserts value c into the list of the best, which has `filled` entries.
DRAGOMAN_INLINE void insert_best(const BestArguments& a, std::int64_t c, std::int64_t& filled) {
  const float value = a.values[c];
  std::int64_t at = filled < a.best ? filled++ : a.best - 1;
  for (; at > 0 && value > a.best_values[at - 1]; --at) {
    a.best_values[at] = a.best_values[at - 1];
    a.indices[at] = a.indices[at - 1];
  }
  a.best_values[at] = value;
  a.indices[at] = (std::int32_t)(a.first + c);
}

void best(const BestArguments& a) {
  constexpr std::int64_t kBlock = 4 * kLanes;
  std::int64_t filled = a.first < a.best ? a.first : a.best, c = 0;
  const float reached = filled == 0 ? reached_by(a.best, a.values, a.count) : -__builtin_inff();
  if (reached > -__builtin_inff()) {  // most values are below: begin with entries that larger ones
                                      // will replace
    for (; filled < a.best; ++filled)
      a.best_values[filled] = __builtin_nextafterf(reached, -__builtin_inff());
  }
  for (; filled < a.best && c < a.count; ++c) insert_best(a, c, filled);
  const float& least = a.best_values[a.best - 1];
  for (; c + kBlock <= a.count; c += kBlock) {
    const float* block = a.values + c;
    const F32 largest = maximum(maximum(load(block), load(block + kLanes)),
                                maximum(load(block + 2 * kLanes), load(block + 3 * kLanes)));
    if (Isa::lanes_above(largest, splat(least)) == 0) continue;
    for (std::int64_t i = 0; i < kBlock; i += kLanes)
      for (std::uint32_t above = Isa::lanes_above(load(block + i), splat(least)); above != 0;
           above &= above - 1) {
        const std::int64_t lane = c + i + __builtin_ctz(above);
        if (a.values[lane] > least) insert_best(a, lane, filled);
      }
  }
  for (; c < a.count; ++c)
    if (a.values[c] > least) insert_best(a, c, filled);
}

DRAGOMAN_END_KERNELS
