// The products of training in bf16, where one instruction multiplies pairs of numbers: a linear
// layer's or its input gradient's, with what follows it.
#pragma once

#include <cstdint>

#include "kernels/dropout-inl.h"
#include "kernels/kernels.h"
#include "kernels/linear-inl.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/pair_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

template <int R>
DRAGOMAN_INLINE void load_sums(const float* tile, F32 (&sums)[R][kVectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) sums[r][v] = load(tile + r * kPanel + v * kLanes);
}

/// Each row from the panel's part of a bias on, of which `left` are there; null: zero.
template <int R>
DRAGOMAN_INLINE void start_sums(const std::uint16_t* bias, std::int64_t left,
                                F32 (&sums)[R][kVectors]) {
#pragma GCC unroll 4
  for (std::int64_t v = 0; v < kVectors; ++v) {
    const std::int64_t c = v * kLanes;
    const F32 value = bias && left > c ? load_some(bias + c, left - c, 0) : splat(0);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sums[r][v] = value;
  }
}

/// Adds one panel's products of R rows.
template <int R>
DRAGOMAN_INLINE void multiply_pairs(const void* x, Strides strides, const std::uint16_t* panel,
                                    std::int64_t pairs, F32 (&sums)[R][kVectors]) {
  multiply_words<R>(
      x, strides, panel, (const char*)panel, pairs, sums,
      [](F32 & sum, I32 a, I32 b) __attribute__((always_inline)) { Isa::add_bf16(sum, a, b); });
}

/// Before anything else is done with them: else g++ 12 keeps some in memory in the loop, too.
template <int R>
DRAGOMAN_INLINE void store_sums(float* tile, const F32 (&sums)[R][kVectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) store(tile + r * kPanel + v * kLanes, sums[r][v]);
}

constexpr std::int64_t kSummedInputs = 2048;  // of a panel, which a second-level cache holds
constexpr std::int64_t kProductRows = 48;     // meet them one after another

/// A tile of a product.
struct ProductTile {
  std::int64_t row, column;
  std::int64_t begin, end;  ///< of the inputs that are summed now
  const std::uint16_t* panel;
  float* sums;        ///< so far [R, kPanel], if begin > 0
  std::int64_t done;  ///< rows that the tile before has finished
};

/// finish(sums, row, column, left) where all inputs are summed, of which `left` or kPanel are
/// there. What will be written, and the rows of the next block, are fetched meanwhile: products of
/// few inputs would wait for them.
template <int R, class Finish>
void product_tile(const ProductArguments& a, const ProductTile& tile, Finish finish) {
  const auto* x = (const std::uint16_t*)a.x + tile.row * a.inputs;
  const std::int64_t count = tile.end - tile.begin, left = a.outputs - tile.column;
  for (int r = 0; r < R; ++r) {
    const auto* y = (const std::uint16_t*)a.y + (tile.row + r) * a.outputs + tile.column;
    __builtin_prefetch(y, 1);
    __builtin_prefetch(y + kPanel / 2, 1);
    if (tile.column == 0)
      for (std::int64_t k = tile.begin; k < tile.end; k += 32)
        __builtin_prefetch(x + (kProductRows + r) * a.inputs + k);
  }
  F32 sums[R][kVectors];
  if (tile.begin > 0)
    load_sums<R>(tile.sums, sums);
  else
    start_sums<R>(a.bias ? (const std::uint16_t*)a.bias + tile.column : nullptr, left, sums);
  multiply_pairs<R>(x + tile.begin, {.row = a.inputs, .word = 2}, tile.panel + tile.begin * kPanel,
                    count / 2, sums);
  if (tile.end == a.inputs && count % 2 == 0 && left >= kPanel) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      if (r >= tile.done) finish(sums[r], tile.row + r, tile.column, kPanel);
    return;
  }
  store_sums<R>(tile.sums, sums);
  if (tile.end < a.inputs) return;
  for (std::int64_t r = tile.done; r < R; ++r) {
    F32 row[1][kVectors];
    load_sums<1>(tile.sums + r * kPanel, row);
    const std::uint16_t last[2] = {x[r * a.inputs + tile.end - 1], 0};  // of an odd number
    multiply_pairs<1>(last, {}, tile.panel + (tile.end - 1) * kPanel, count % 2, row);
    finish(row[0], tile.row + r, tile.column, left);
  }
}

/// For every row and panel. The last tile begins early enough to be a whole one.
template <int R, class Finish>
DRAGOMAN_INLINE void product_of_rows(const ProductArguments& a, std::int64_t row, std::int64_t rows,
                                     float* tiles, const Finish& finish) {
  ProductTile tile = {0, 0, 0, 0, (const std::uint16_t*)a.packed, nullptr, 0};
  for (; tile.column < a.outputs; tile.column += kPanel) {
    for (tile.begin = 0; tile.begin < a.inputs; tile.begin = tile.end) {
      const std::int64_t left = a.inputs - tile.begin;
      tile.end = tile.begin + (left < kSummedInputs ? left : kSummedInputs);
      tile.sums = tiles;
      for (std::int64_t r = 0; r < rows; r += R, tile.sums += R * kPanel) {
        tile.done = r + R < rows ? 0 : r + R - rows;
        tile.row = row + r - tile.done;
        product_tile<R>(a, tile, finish);
      }
    }
    tile.panel += packed_size(kPanel, a.inputs);
  }
}

/// Of up to kProductRows rows. tiles [kProductRows, kPanel].
template <class Finish>
DRAGOMAN_INLINE void product_of_block(const ProductArguments& a, std::int64_t row,
                                      std::int64_t rows, float* tiles, const Finish& finish) {
  if (rows < kTileRows)
    product_of_rows<1>(a, row, rows, tiles, finish);
  else
    product_of_rows<kTileRows>(a, row, rows, tiles, finish);
}

template <class Finish>
DRAGOMAN_INLINE void product_of(const ProductArguments& a, std::int64_t begin, std::int64_t end,
                                const Finish& finish) {
  float* tiles = DRAGOMAN_FRAME_FLOATS(kProductRows * kPanel);
  for (std::int64_t row = begin; row < end; row += kProductRows)
    product_of_block(a, row, end - row < kProductRows ? end - row : kProductRows, tiles, finish);
}

/// A panel's numbers of a row, of which `left` are there.
DRAGOMAN_INLINE void store_panel(std::uint16_t* y, const F32* values, std::int64_t left) {
#pragma GCC unroll 4
  for (std::int64_t v = 0; v < kVectors; v += 2) {
    const std::int64_t c = v * kLanes;
    if (left >= c + 2 * kLanes) {
      const auto both = Isa::round_two_to_bf16(values[v], values[v + 1]);
      __builtin_memcpy(y + c, &both, sizeof both);
    } else {
      if (left > c) store_some(y + c, values[v], left - c);
      if (left > c + kLanes) store_some(y + c + kLanes, values[v + 1], left - c - kLanes);
    }
  }
}

void product(const ProductArguments& a, std::int64_t begin, std::int64_t end) {
  product_of(
      a, begin, end,
      [&a](const F32* sums, std::int64_t row, std::int64_t column, std::int64_t left)
          __attribute__((always_inline)) {
            store_panel((std::uint16_t*)a.y + row * a.outputs + column, sums, left);
          });
}

void relu_product(const ReluProductArguments& a, std::int64_t begin, std::int64_t end) {
  const bool drops = a.dropout.row_keys != nullptr;
  const float scale = a.dropout.scale();
  float* tiles = DRAGOMAN_FRAME_FLOATS(kProductRows * kPanel);
  for (std::int64_t first = begin; first < end; first += kProductRows) {
    const std::int64_t rows = end - first < kProductRows ? end - first : kProductRows;
    std::uint32_t keys[kProductRows];
    for (std::int64_t r = 0; r < rows && drops; ++r) keys[r] = row_key(a.dropout, first + r);
    product_of_block(
        a.product, first, rows, tiles,
        [&](const F32* sums, std::int64_t row, std::int64_t column,
            std::int64_t left) __attribute__((always_inline)) {
          Factors factors;
          if (drops)
            dropout_factors(keys[row - first], column, a.dropout.threshold, scale, factors);
          F32 values[kVectors];
#pragma GCC unroll 4
          for (std::int64_t v = 0; v < kVectors; ++v) {
            values[v] = sums[v] < 0.0F ? splat(0) : sums[v];  // NaN stays NaN
            if (drops) values[v] = values[v] * load(factors.column + v * kLanes);
          }
          store_panel((std::uint16_t*)a.product.y + row * a.product.outputs + column, values, left);
        });
  }
}

void relu_gradient_product(const ReluGradientProductArguments& a, std::int64_t begin,
                           std::int64_t end) {
  product_of(
      a.product, begin, end,
      [&a](const F32* sums, std::int64_t row, std::int64_t column, std::int64_t left)
          __attribute__((always_inline)) {
            const std::int64_t at = row * a.product.outputs + column;
            F32 values[kVectors];
#pragma GCC unroll 4
            for (std::int64_t v = 0; v < kVectors; ++v) {
              const std::int64_t c = v * kLanes;
              const F32 kept = left > c
                                   ? load_some((const std::uint16_t*)a.kept + at + c, left - c, 0)
                                   : splat(0);
              values[v] = kept > 0.0F ? sums[v] * a.scale : splat(0);
            }
            store_panel((std::uint16_t*)a.product.y + at, values, left);
          });
}

void scaled_product(const ScaledProductArguments& a, std::int64_t begin, std::int64_t end) {
  product_of(
      a.product, begin, end,
      [&a](const F32* sums, std::int64_t row, std::int64_t column,
           std::int64_t left) __attribute__((always_inline)) {
        F32 values[kVectors];
        const F32 scale = splat(a.scales[row]);
#pragma GCC unroll 4
        for (std::int64_t v = 0; v < kVectors; ++v) {
          const std::int64_t c = v * kLanes;
          values[v] = sums[v] * scale;
          if (left > c && a.scales[row] != 0)
            values[v] = values[v] - load_some(a.offsets + column + c, left - c, 0);
        }
        store_panel((std::uint16_t*)a.product.y + row * a.product.outputs + column, values, left);
      });
}

DRAGOMAN_END_KERNELS
