// Small matrices in fp32 that fit the first-level cache: products and transposition.
#pragma once

#include <cstdint>

#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

DRAGOMAN_INLINE std::int64_t round_to_lanes(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

/// rows [count, d_k] at stride -> fp32 [count, width], zero beyond d_k. Prefetches the numbers
/// behind each row: they are the next head's.
template <class T>
DRAGOMAN_INLINE void load_rows(const T* rows, std::int64_t stride, std::int64_t count,
                               std::int64_t d_k, std::int64_t width, float* to) {
  for (std::int64_t r = 0; r < count; ++r, rows += stride, to += width) {
    std::int64_t d = 0;
    for (; d + kLanes <= d_k; d += kLanes) {
      __builtin_prefetch(rows + d_k + d);
      store(to + d, load(rows + d));
    }
    if (d < width) store(to + d, load_part(rows + d, d_k - d, 0));
  }
}

/// fp32 [count, width] -> rows [count, d_k] at stride.
template <class T>
DRAGOMAN_INLINE void store_rows(const float* from, std::int64_t width, std::int64_t count,
                                std::int64_t d_k, T* rows, std::int64_t stride) {
  for (std::int64_t r = 0; r < count; ++r, rows += stride, from += width)
    for (std::int64_t d = 0; d < d_k; d += kLanes) store_some(rows + d, load(from + d), d_k - d);
}

/// One step of the transposition of kLanes rows: in each square of 2 * H rows and lanes the upper
/// right quarter and the lower left one are exchanged.
template <int H>
DRAGOMAN_INLINE void swap_quarters(F32 (&rows)[kLanes]) {
  const I32 lane = lane_numbers();
  const I32 upper = (lane & H) == 0 ? lane : lane - H + (std::int32_t)kLanes;
  const I32 lower = (lane & H) == 0 ? lane + H : lane + (std::int32_t)kLanes;
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (i & H) continue;
    const F32 a = rows[i], b = rows[i + H];
    rows[i] = __builtin_shuffle(a, b, upper);
    rows[i + H] = __builtin_shuffle(a, b, lower);
  }
  if constexpr (2 * H < kLanes) swap_quarters<2 * H>(rows);
}

/// [count, width] -> [width, columns], zero beyond count; width and columns are multiples of
/// the lanes.
DRAGOMAN_INLINE void transpose(const float* rows, std::int64_t count, std::int64_t width,
                               std::int64_t columns, float* to) {
  for (std::int64_t r = 0; r < columns; r += kLanes)
    for (std::int64_t d = 0; d < width; d += kLanes) {
      F32 square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        square[i] = r + i < count ? load(rows + (r + i) * width + d) : splat(0);
      swap_quarters<1>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(to + (d + i) * columns + r, square[i]);
    }
}

/// c[i, :] (+)= sum over k of a[i, k] * b[k, :], a tile of R rows and C vectors. Element (i, k) of
/// `a` stands at i * a_row + k * a_step, so `a` may be transposed.
template <int R, int C>
DRAGOMAN_INLINE void multiply_tile(const float* a, std::int64_t a_row, std::int64_t a_step,
                                   const float* b, std::int64_t b_stride, std::int64_t inner,
                                   float* c, std::int64_t c_stride, bool adds) {
  F32 sums[R][C];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) sums[i][j] = adds ? load(c + i * c_stride + j * kLanes) : splat(0);
  for (std::int64_t k = 0; k < inner; ++k) {
    F32 row[C];
    for (int j = 0; j < C; ++j) row[j] = load(b + k * b_stride + j * kLanes);
    for (int i = 0; i < R; ++i) {
      const F32 x = splat(a[i * a_row + k * a_step]);
      for (int j = 0; j < C; ++j) sums[i][j] = fused(x, row[j], sums[i][j]);
    }
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) store(c + i * c_stride + j * kLanes, sums[i][j]);
}

struct Matrix {
  const float* data;
  std::int64_t row, step;  ///< distances of element (i, k) to (i + 1, k) and to (i, k + 1)
};

/// Some columns of `multiply`, C vectors, in tiles of R rows; of the rest in tiles of fewer.
template <int R, int C>
DRAGOMAN_INLINE void multiply_strip(const Matrix& a, const float* b, std::int64_t b_stride,
                                    std::int64_t rows, std::int64_t inner, float* c,
                                    std::int64_t c_stride, bool adds) {
  std::int64_t i = 0;
  for (; i + R <= rows; i += R)
    multiply_tile<R, C>(a.data + i * a.row, a.row, a.step, b, b_stride, inner, c + i * c_stride,
                        c_stride, adds);
  if constexpr (R > 1)
    if (i < rows)
      multiply_strip<R / 2, C>({a.data + i * a.row, a.row, a.step}, b, b_stride, rows - i, inner,
                               c + i * c_stride, c_stride, adds);
}

/// c [rows, columns] (+)= a [rows, inner] * b [inner, columns]; columns is a multiple of the lanes.
static inline void multiply(const Matrix& a, const float* b, std::int64_t b_stride,
                            std::int64_t rows, std::int64_t inner, std::int64_t columns, float* c,
                            std::int64_t c_stride, bool adds) {
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
    multiply_strip<8, 2>(a, b + j, b_stride, rows, inner, c + j, c_stride, adds);
  if (j < columns) multiply_strip<8, 1>(a, b + j, b_stride, rows, inner, c + j, c_stride, adds);
}

DRAGOMAN_END_KERNELS
