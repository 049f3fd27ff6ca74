// How the factors of products in bf16 lie in memory: panels of outputs, pairs of inputs side by
// side.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

static_assert(kPanel == kProductPanel);

typedef std::uint16_t Halves __attribute__((vector_size(4 * kLanes)));

/// What stands from column `first` of two rows on, side by side.
DRAGOMAN_INLINE Halves interleave(Halves upper, Halves lower, int first) {
  Halves from;
  for (int i = 0; i < 2 * kLanes; ++i)
    from[i] = (std::uint16_t)(first + i / 2 + i % 2 * 2 * kLanes);
  return __builtin_shuffle(upper, lower, from);
}

/// packed [pairs of rows][width][2] of x [rows, columns], a row `stride` from the next; zero where
/// there is no number. What stands behind these columns is fetched for the next call.
DRAGOMAN_INLINE void pack_pairs(const std::uint16_t* x, std::int64_t stride, std::int64_t rows,
                                std::int64_t columns, std::int64_t width, std::uint16_t* packed) {
  for (std::int64_t row = 0; row < rows; row += 2, x += 2 * stride, packed += 2 * width) {
    const bool both = row + 1 < rows;
    const std::uint16_t* below = both ? x + stride : x;
    std::int64_t c = 0;
    for (; both && c + 2 * kLanes <= columns; c += 2 * kLanes) {
      __builtin_prefetch(x + c + width);
      __builtin_prefetch(below + c + width);
      Halves upper, lower;
      __builtin_memcpy(&upper, x + c, sizeof upper);
      __builtin_memcpy(&lower, below + c, sizeof lower);
      const Halves front = interleave(upper, lower, 0), back = interleave(upper, lower, kLanes);
      __builtin_memcpy(packed + 2 * c, &front, sizeof front);
      __builtin_memcpy(packed + 2 * (c + kLanes), &back, sizeof back);
    }
    for (; c < width; ++c) {
      packed[2 * c] = c < columns ? x[c] : std::uint16_t{0};
      packed[2 * c + 1] = c < columns && both ? below[c] : std::uint16_t{0};
    }
  }
}

/// The words of kLanes rows [kLanes, kLanes] to columns: each perfect shuffle rotates a number's
/// index by one bit.
DRAGOMAN_INLINE void transpose(I32 (&rows)[kLanes]) {
  const I32 lanes = lane_numbers(), odd = lanes & 1;
  const I32 front = lanes / 2 + odd * (std::int32_t)kLanes, back = front + (std::int32_t)kLanes / 2;
#pragma GCC unroll 4
  for (std::int64_t round = 1; round < kLanes; round *= 2) {
    I32 next[kLanes];
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = __builtin_shuffle(rows[i], rows[i + kLanes / 2], front);
      next[2 * i + 1] = __builtin_shuffle(rows[i], rows[i + kLanes / 2], back);
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

/// A panel of weights [outputs, inputs], pairs of inputs side by side; zero where there is no
/// number.
DRAGOMAN_INLINE void pack_outputs(const std::uint16_t* weights, std::int64_t outputs,
                                  std::int64_t inputs, std::uint16_t* packed) {
  const std::int64_t pairs = (inputs + 1) / 2;
  for (std::int64_t output = 0; output < kPanel; output += kLanes)
    for (std::int64_t pair = 0; pair < pairs; pair += kLanes) {
      const std::int64_t left = inputs - 2 * pair, words = pairs - pair;
      I32 block[kLanes];
      for (std::int64_t i = 0; i < kLanes; ++i) {
        block[i] = I32{};
        if (output + i < outputs)
          __builtin_memcpy(&block[i], weights + (output + i) * inputs + 2 * pair,
                           left < 2 * kLanes ? 2 * left : 4 * kLanes);
      }
      transpose(block);
      for (std::int64_t i = 0; i < kLanes && i < words; ++i)
        __builtin_memcpy(packed + 2 * ((pair + i) * kPanel + output), &block[i], sizeof block[i]);
    }
}

void pack_weights(const PackArguments& a, std::int64_t begin, std::int64_t end) {
  const auto* weights = (const std::uint16_t*)a.weights;
  const std::int64_t size = packed_size(kPanel, a.inputs);
  for (std::int64_t panel = begin; panel < end; ++panel) {
    const std::int64_t output = panel * kPanel, left = a.outputs - output;
    const std::int64_t outputs = left < kPanel ? left : kPanel;
    std::uint16_t* packed = (std::uint16_t*)a.packed + panel * size;
    if (a.transposed)
      pack_pairs(weights + output, a.outputs, a.inputs, outputs, kPanel, packed);
    else
      pack_outputs(weights + output * a.inputs, outputs, a.inputs, packed);
  }
}

DRAGOMAN_END_KERNELS
