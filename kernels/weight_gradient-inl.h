// The gradient of a linear layer's weight: rows are laid out in pairs, as inputs are in products.
#pragma once

#include <cstdint>

#include "kernels/bf16_products-inl.h"
#include "kernels/kernels.h"
#include "kernels/pair_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

constexpr std::int64_t kPackedRows = 256;    // at a time
constexpr std::int64_t kPackedInputs = 512;  // laid out once for all outputs

/// A tile of the gradient.
struct GradientTile {
  bool first, last;  ///< of the rows that are summed
  std::int64_t output, input;
  std::int64_t outputs;  ///< that there are
};

void gradient_tile(const WeightGradientArguments& a, const std::uint16_t* d_outputs,
                   const std::uint16_t* inputs, std::int64_t pairs, const GradientTile& tile) {
  float totals[kTileRows * kPanel];
  for (int r = 0; r < kTileRows; ++r)
    for (std::int64_t v = 0; v < kPanel; v += kLanes)
      __builtin_prefetch(a.sums + (tile.output + r) * a.inputs + tile.input + v, 1);
  F32 sums[kTileRows][kVectors];
  start_sums<kTileRows>(nullptr, 0, sums);
  multiply_pairs<kTileRows>(d_outputs, {.row = 2, .word = 2 * kOutputBlock}, inputs, pairs, sums);
  store_sums<kTileRows>(totals, sums);
  for (std::int64_t r = 0; r < tile.outputs; ++r)
    for (std::int64_t v = 0; v < kPanel; v += kLanes) {
      const std::int64_t at = (tile.output + r) * a.inputs + tile.input + v;
      const std::int64_t left = a.inputs - tile.input - v;
      if (left <= 0) continue;
      F32 sum = load(totals + r * kPanel + v);
      if (!tile.first)
        sum = sum + load_some(a.sums + at, left, 0);
      else if (a.start)
        sum = sum + load_some(a.start + tile.input + v, left, 0);
      if (tile.last)
        store_some((std::uint16_t*)a.gradient + at, sum, left);
      else
        store_some(a.sums + at, sum, left);
    }
}

static_assert(kOutputBlock % kTileRows == 0);  // outputs are padded with zeros to a whole tile

/// The sums of a block of outputs over some rows, whose inputs [begin, end) lie in packed panels.
DRAGOMAN_INLINE void add_to_block(const WeightGradientArguments& a, std::int64_t row,
                                  std::int64_t rows, std::int64_t output, std::int64_t begin,
                                  std::int64_t end, const std::uint16_t* inputs,
                                  std::uint16_t* d_outputs) {
  const std::int64_t left = a.outputs - output, outputs = left < kOutputBlock ? left : kOutputBlock;
  const std::int64_t pairs = (rows + 1) / 2;
  pack_pairs((const std::uint16_t*)a.d_output + row * a.outputs + output, a.outputs, rows, outputs,
             kOutputBlock, d_outputs);
  GradientTile tile = {row == 0 && !a.add, row + rows == a.rows && a.gradient, 0, 0, 0};
  for (tile.input = begin; tile.input < end; tile.input += kPanel) {
    for (std::int64_t r = 0; r < outputs; r += kTileRows) {
      tile.output = output + r;
      tile.outputs = outputs - r < kTileRows ? outputs - r : kTileRows;
      gradient_tile(a, d_outputs + 2 * r, inputs, pairs, tile);
    }
    inputs += pairs * 2 * kPanel;
  }
}

void weight_gradient(const WeightGradientArguments& a, std::int64_t begin, std::int64_t end) {
  // inputs [panel][pairs of rows][kPanel][2], d_outputs [pairs of rows][kOutputBlock][2].
  auto* inputs = (std::uint16_t*)DRAGOMAN_FRAME_FLOATS(kPackedRows * kPackedInputs / 2);
  auto* d_outputs = (std::uint16_t*)DRAGOMAN_FRAME_FLOATS(kPackedRows * kOutputBlock / 2);
  for (std::int64_t input = 0; input < a.inputs; input += kPackedInputs) {
    const std::int64_t stop = a.inputs - input < kPackedInputs ? a.inputs : input + kPackedInputs;
    for (std::int64_t row = 0; row < a.rows; row += kPackedRows) {
      const std::int64_t rows = a.rows - row < kPackedRows ? a.rows - row : kPackedRows;
      std::uint16_t* panel = inputs;
      for (std::int64_t c = input; c < stop; c += kPanel, panel += (rows + 1) / 2 * 2 * kPanel)
        pack_pairs((const std::uint16_t*)a.input + row * a.inputs + c, a.inputs, rows,
                   stop - c < kPanel ? stop - c : kPanel, kPanel, panel);
      for (std::int64_t block = begin; block < end; ++block)
        add_to_block(a, row, rows, block * kOutputBlock, input, stop, inputs, d_outputs);
    }
  }
}

DRAGOMAN_END_KERNELS
