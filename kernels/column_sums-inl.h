// Sums of columns: the gradient of a bias.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

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
