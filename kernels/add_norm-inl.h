// Layer normalisation with dropout and a residual connection before it.
#pragma once

#include <cstdint>

#include "kernels/dropout-inl.h"
#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

template <class E>
void add_norm(const NormArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  const float fraction = 1.0F / (float)a.columns;
  const T *gain = (const T*)a.gain, *bias = (const T*)a.bias;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t at = row * a.columns;
    const T *x = (const T*)a.x + at, *sum = a.sum ? (const T*)a.sum + at : x;
    T* y = (T*)a.y + at;
    if (a.sum)
      add_dropped_row<false>(x, a.residual ? (const T*)a.residual + at : nullptr, (T*)a.sum + at,
                             a.columns, a.dropout, row);
    const auto add = [&](F32 total, std::int64_t c, std::int64_t left)
        __attribute__((always_inline)) {
      return total + load_some(sum + c, left, 0);
    };
    const float mean = sum_of(a.columns, add) * fraction;
    const auto add_square = [&](F32 squares, std::int64_t c, std::int64_t left)
        __attribute__((always_inline)) {
      const F32 d = load_some(sum + c, left, mean) - mean;
      return fused(d, d, squares);
    };
    const float squares = sum_of(a.columns, add_square);
    const float inverse = 1.0F / __builtin_sqrtf(fused(squares, fraction, a.epsilon));
    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      const F32 normalized = (load_some(sum + c, left, 0) - mean) * inverse;
      store_some(y + c,
                 fused(normalized, load_some(gain + c, left, 0), load_some(bias + c, left, 0)),
                 left);
    }
    if (a.means) a.means[row] = mean;
    if (a.inverse_deviations) a.inverse_deviations[row] = inverse;
  }
}

template <class E>
void add_norm_gradient(const NormGradientArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  const float fraction = 1.0F / (float)a.columns;
  const bool drops = a.dropout.row_keys != nullptr;
  const float scale = a.dropout.scale();
  const T* gain = (const T*)a.gain;
  for (std::int64_t row = begin; row < end; ++row) {
    const T* dy = (const T*)a.dy + row * a.columns;
    const T* sum = (const T*)a.sum + row * a.columns;
    const T* elsewhere =
        a.d_sum_elsewhere ? (const T*)a.d_sum_elsewhere + row * a.columns : nullptr;
    T* d_sum = (T*)a.d_sum + row * a.columns;
    float* d_gain = a.d_gain + row / a.rows_per_sum * a.columns;
    float* d_bias = a.d_bias + row / a.rows_per_sum * a.columns;
    const float mean = a.means[row], inverse = a.inverse_deviations[row];

    F32 totals = splat(0), products = splat(0);
    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      const F32 d = load_some(dy + c, left, 0);
      const F32 normalized = (load_some(sum + c, left, mean) - mean) * inverse;
      const F32 scaled = d * load_some(gain + c, left, 0);
      totals = totals + scaled;
      products = products + scaled * normalized;
      store_some(d_gain + c, load_some(d_gain + c, left, 0) + d * normalized, left);
      store_some(d_bias + c, load_some(d_bias + c, left, 0) + d, left);
    }
    const float mean_total = sum_lanes(totals) * fraction,
                mean_product = sum_lanes(products) * fraction;

    const std::uint32_t key = drops ? row_key(a.dropout, row) : 0;
    T* d_x = a.d_x ? (T*)a.d_x + row * a.columns : nullptr;
    for (std::int64_t block = 0; block < a.columns; block += 64) {
      Factors factors;
      if (drops) dropout_factors(key, block, a.dropout.threshold, scale, factors);
      for (std::int64_t c = block; c < a.columns && c < block + 64; c += kLanes) {
        const std::int64_t left = a.columns - c;
        const F32 normalized = (load_some(sum + c, left, mean) - mean) * inverse;
        const F32 scaled = load_some(dy + c, left, 0) * load_some(gain + c, left, 0);
        F32 d = (scaled - mean_total - normalized * mean_product) * inverse;
        if (elsewhere) d = d + load_some(elsewhere + c, left, 0);
        store_some(d_sum + c, d, left);
        if (d_x) store_some(d_x + c, d * load(factors.column + (c - block)), left);
      }
    }
  }
}

DRAGOMAN_END_KERNELS
