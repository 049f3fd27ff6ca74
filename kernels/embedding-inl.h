// Rows of the embedding, and the sums of their gradients; sums of columns, which are the gradient
// of a bias.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

template <class E>
void embedding(const EmbeddingArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  for (std::int64_t row = begin; row < end; ++row) {
    T* y = (T*)a.y + row * a.columns;
    const T* weight = a.tokens[row] < 0 ? nullptr : (const T*)a.weight + a.tokens[row] * a.columns;
    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      store_some(y + c, weight ? load_some(weight + c, left, 0) * a.scale : splat(0), left);
    }
  }
}

template <class E>
void embedding_gradient(const EmbeddingGradientArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  const std::int64_t kVectors = 4;
  for (std::int64_t g = begin; g < end; ++g) {
    T* to = (T*)a.gradient + a.tokens[g] * a.columns;
    for (std::int64_t block = 0; block < a.columns; block += kVectors * kLanes) {
      F32 sums[kVectors] = {splat(0), splat(0), splat(0), splat(0)};
      for (std::int64_t n = a.starts[g]; n < a.starts[g + 1]; ++n) {
        const T* from = (const T*)a.d_output + a.order[n] * a.columns;
        for (std::int64_t v = 0; v < kVectors; ++v) {
          const std::int64_t c = block + v * kLanes;
          if (c < a.columns) sums[v] = sums[v] + load_some(from + c, a.columns - c, 0);
        }
      }
      for (std::int64_t v = 0; v < kVectors; ++v) {
        const std::int64_t c = block + v * kLanes;
        if (c < a.columns) store_some(to + c, sums[v] * a.scale, a.columns - c);
      }
    }
  }
}

/// Sums of 64 rows each are summed again, which keeps what is lost to rounding small.
template <class E>
void column_sums(const ColumnSumsArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  constexpr std::int64_t kVectors = kColumnBlock / kLanes, kRows = 64;
  for (std::int64_t c = begin * kColumnBlock; c < end * kColumnBlock; c += kColumnBlock) {
    F32 totals[kVectors];
    for (std::int64_t v = 0; v < kVectors; ++v) totals[v] = splat(0);
    for (std::int64_t block = 0; block < a.rows; block += kRows) {
      const std::int64_t stop = a.rows - block < kRows ? a.rows : block + kRows;
      F32 sums[kVectors];
      for (std::int64_t v = 0; v < kVectors; ++v) sums[v] = splat(0);
      if (c + kColumnBlock <= a.columns)
        for (std::int64_t row = block; row < stop; ++row)
          for (std::int64_t v = 0; v < kVectors; ++v)
            sums[v] = sums[v] + load((const T*)a.x + row * a.columns + c + v * kLanes);
      else
        for (std::int64_t row = block; row < stop; ++row)
          for (std::int64_t v = 0; v < kVectors; ++v)
            if (const std::int64_t left = a.columns - c - v * kLanes; left > 0)
              sums[v] =
                  sums[v] + load_some((const T*)a.x + row * a.columns + c + v * kLanes, left, 0);
      for (std::int64_t v = 0; v < kVectors; ++v) totals[v] = totals[v] + sums[v];
    }
    for (std::int64_t v = 0; v < kVectors; ++v)
      if (const std::int64_t left = a.columns - c - v * kLanes; left > 0)
        store_some((T*)a.sums + c + v * kLanes, totals[v], left);
  }
}

DRAGOMAN_END_KERNELS
