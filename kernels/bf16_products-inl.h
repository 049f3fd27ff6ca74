// The products of training in bf16, for sets in which one instruction multiplies pairs of numbers:
// how the factors lie in memory; a linear layer's product or its input gradient's, with what
// follows it; the loss of an output projection; the gradient of a weight.
#pragma once

#include <cstdint>

#include "kernels/dropout-inl.h"
#include "kernels/kernels.h"
#include "kernels/linear-inl.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

// The layout: panels of outputs, pairs of inputs side by side

static_assert(kPanel == kProductPanel);

typedef std::uint16_t Halves __attribute__((vector_size(4 * kLanes)));

/// The numbers of two rows from column `first` on, side by side.
DRAGOMAN_INLINE Halves interleave(Halves upper, Halves lower, int first) {
  Halves from;
  for (int i = 0; i < 2 * kLanes; ++i)
    from[i] = (std::uint16_t)(first + i / 2 + i % 2 * 2 * kLanes);
  return shuffled(upper, lower, from);
}

/// packed [pairs of rows][width][2] of x [rows, columns], a row `stride` from the next; zero if
/// there is no number. The numbers after these columns are prefetched for the next call.
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
      next[2 * i] = shuffled(rows[i], rows[i + kLanes / 2], front);
      next[2 * i + 1] = shuffled(rows[i], rows[i + kLanes / 2], back);
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

/// A panel of weights [outputs, inputs], pairs of inputs side by side; zero if there is no
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

// Products, each with what follows it

template <int R>
DRAGOMAN_INLINE void load_sums(const float* tile, F32 (&sums)[R][kVectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) sums[r][v] = load(tile + r * kPanel + v * kLanes);
}

/// Each row begins with the panel's part of a bias, of which `left` are there; null: zero.
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

/// Call it before anything else is done with the sums: otherwise g++ 12 keeps some of them in
/// memory in the loop, too.
template <int R>
DRAGOMAN_INLINE void store_sums(float* tile, const F32 (&sums)[R][kVectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) store(tile + r * kPanel + v * kLanes, sums[r][v]);
}

constexpr std::int64_t kSummedInputs = 2048;  // of a panel; a second-level cache holds them
constexpr std::int64_t kProductRows = 48;     // rows that meet them one after another

/// A tile of a product.
struct ProductTile {
  std::int64_t row, column;
  std::int64_t begin, end;  ///< of the inputs that are summed now
  const std::uint16_t* panel;
  float* sums;        ///< so far [R, kPanel], if begin > 0
  std::int64_t done;  ///< rows that the tile before has finished
};

/// Calls finish(sums, row, column, left) once all inputs are summed; `left` of the sums, at most
/// kPanel, are there. Meanwhile it prefetches the memory that it will write, and the rows of the
/// next block: products of few inputs would wait for them.
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

/// Finishes every row and panel. The last tile begins early enough to be a whole one.
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

/// The same for up to kProductRows rows. tiles [kProductRows, kPanel].
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

// The loss of an output projection without its logits

/// From here on, totals leave too little of fp32's range.
constexpr float kLargestTotal = 0x1p90F;

template <class T>
DRAGOMAN_INLINE float dot(const std::uint16_t* a, const T* b, std::int64_t count) {
  return sum_of(
      count, [&](F32 sum, std::int64_t c, std::int64_t left) __attribute__((always_inline)) {
        return fused(load_some(a + c, left, 0), load_some(b + c, left, 0), sum);
      });
}

/// Finishes a row after its exponentials have been written.
DRAGOMAN_INLINE void finish_row(const ProjectedLossArguments& a, std::int64_t row,
                                float target_logit, float total) {
  const ProductArguments& p = a.product;
  const auto* x = (const std::uint16_t*)p.x + row * p.inputs;
  const std::int64_t target = a.targets[row];
  std::uint16_t* y = (std::uint16_t*)p.y + row * p.outputs;
  std::uint16_t* scaled = (std::uint16_t*)a.scaled + row * p.inputs;
  if (target < 0) {
    a.negative_log_likelihoods[row] = a.losses[row] = a.inverses[row] = 0;
    for (std::int64_t c = 0; c < p.outputs; ++c) y[c] = 0;
    for (std::int64_t c = 0; c < p.inputs; ++c) scaled[c] = 0;
    return;
  }
  const float mean = dot(x, a.weight_sum, p.inputs) / (float)p.outputs;
  const float log_total = total < kLargestTotal ? __builtin_logf(total) : __builtin_nanf("");
  a.negative_log_likelihoods[row] = log_total;
  a.losses[row] = log_total + a.smoothing * (target_logit - mean);
  a.inverses[row] = 1.0F / total;
  store_element(y + target, 1.0F - (1.0F - a.smoothing) * total);
  for (std::int64_t c = 0; c < p.inputs; c += kLanes)
    store_some(scaled + c, load_some(x + c, p.inputs - c, 0) * a.inverses[row], p.inputs - c);
}

void projected_loss(const ProjectedLossArguments& a, std::int64_t begin, std::int64_t end) {
  const ProductArguments& p = a.product;
  float* tiles = DRAGOMAN_FRAME_FLOATS(kProductRows * kPanel);   // [kProductRows, kPanel]
  float* totals = DRAGOMAN_FRAME_FLOATS(kProductRows * kLanes);  // [kProductRows, kLanes]
  float* target_logits = DRAGOMAN_FRAME_FLOATS(kProductRows);    // [kProductRows]
  for (std::int64_t first = begin; first < end; first += kProductRows) {
    const std::int64_t rows = end - first < kProductRows ? end - first : kProductRows;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t row = first + r, target = a.targets[row] < 0 ? 0 : a.targets[row];
      target_logits[r] = dot((const std::uint16_t*)p.x + row * p.inputs,
                             (const std::uint16_t*)a.weight + target * p.inputs, p.inputs);
      store(totals + r * kLanes, splat(0));
    }
    product_of_block(
        p, first, rows, tiles,
        [&](const F32* logits, std::int64_t row, std::int64_t column, std::int64_t left)
            __attribute__((always_inline)) {
              float* total = totals + (row - first) * kLanes;
              const F32 shift = splat(target_logits[row - first] * -kLog2OfE);
              F32 e[kVectors];
#pragma GCC unroll 4
              for (std::int64_t v = 0; v < kVectors; ++v) {
                e[v] = power_of_two(fused(logits[v], splat(kLog2OfE), shift));
                if (left < kPanel) e[v] = keep_first(e[v], left - v * kLanes, 0);
              }
              store(total, load(total) + ((e[0] + e[1]) + (e[2] + e[3])));
              store_panel((std::uint16_t*)p.y + row * p.outputs + column, e, left);
            });
    for (std::int64_t r = 0; r < rows; ++r)
      finish_row(a, first + r, target_logits[r], sum_lanes(load(totals + r * kLanes)));
  }
}

// The gradient of a linear layer's weight: rows are laid out in pairs, as inputs are in products

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
