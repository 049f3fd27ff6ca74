// Linear layers on packed weights: fp32, bf16 and int8; and the activations GELU and Swish. (Linear
// layers apply ReLU themselves.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/inference_kernels.h"
#include "kernels/operand_layout-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// Stores a panel's sums of R rows in y. The last panel may have more outputs than y has left.
template <int R>
DRAGOMAN_INLINE void store_tile(const LinearArguments& a, std::int64_t row, std::int64_t panel,
                                F32 (&sums)[R][kVectors]) {
  const F32 least = splat(a.relu ? 0.0F : -__builtin_inff());
  const std::int64_t left = a.outputs - panel * kPanel;
  float* y = a.y + row * a.y_stride + panel * kPanel;
  if (left >= kPanel) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kVectors; ++v)
        store(y + r * a.y_stride + v * kLanes, maximum(least, sums[r][v]));  // NaN stays NaN
    return;
  }
  float values[R * kPanel];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v)
      store(values + r * kPanel + v * kLanes, maximum(least, sums[r][v]));
  for (int r = 0; r < R; ++r)
    __builtin_memcpy(y + r * a.y_stride, values + r * kPanel, sizeof(float) * (std::size_t)left);
}

/// Each row's sums begin with those of `start` [kPanel].
template <int R, class Sum, class Number>
DRAGOMAN_INLINE void start_from(const Number* start, Sum (&sums)[R][kVectors]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v)
      __builtin_memcpy(&sums[r][v], start + v * kLanes, sizeof(Sum));
}

/// The address from which a tile of kTileRows rows prefetches, 64 bytes a step. The first tiles of
/// a panel prefetch the whole next panel of weights, which would come too late from memory. Later
/// tiles prefetch the current panel, which is in the cache already. Tiles of fewer rows do not
/// prefetch: they have no time for more than the processor prefetches by itself.
DRAGOMAN_INLINE const char* asked_for(const void* panel, std::int64_t bytes, std::int64_t row,
                                      std::int64_t steps) {
  const std::int64_t asked = row / kTileRows * steps * 64;
  return (const char*)panel + (asked < bytes ? bytes + asked : 0);
}

/// Weights are fp32, or bf16 that is widened.
template <int R, class Weight>
DRAGOMAN_INLINE void widened_tile(const LinearArguments& a, std::int64_t row, std::int64_t panel,
                                  std::int64_t stride) {
  F32 sums[R][kVectors];
  start_from(a.bias + panel * kPanel, sums);
  const Weight* w = (const Weight*)a.weights + panel * kPanel * stride;
  const float* x = (const float*)a.x + row * stride;
  const char* next = asked_for(w, kPanel * stride * (std::int64_t)sizeof(Weight), row, a.inputs);
  for (std::int64_t k = 0; k < a.inputs; ++k, w += kPanel) {
    if (R == kTileRows) __builtin_prefetch(next + 64 * k);
    F32 weights[kVectors];
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) weights[v] = load(w + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const F32 value = splat(x[r * stride + k]);
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kVectors; ++v) Isa::add_product(sums[r][v], value, weights[v]);
    }
  }
  store_tile<R>(a, row, panel, sums);
}

template <int R>
void float_tile(const LinearArguments& a, std::int64_t row, std::int64_t panel) {
  widened_tile<R, float>(a, row, panel, a.inputs);
}

/// Distances from a row, and from a 32-bit word, to the next, in units of 16 bits.
struct Strides {
  std::int64_t row, word;
};

/// One panel's sums of R rows: `dot` adds the products of the numbers in a 32-bit word of a row and
/// of each output's weights. x is [rows, words], weights [words, kPanel]; `next`: see asked_for.
template <int R, class Sum, class Dot>
DRAGOMAN_INLINE void multiply_words(const void* x, Strides strides, const void* weights,
                                    const char* next, std::int64_t words, Sum (&sums)[R][kVectors],
                                    Dot&& dot) {
  const char* w = (const char*)weights;
  for (std::int64_t word = 0; word < words; ++word, w += 4 * kPanel) {
    if (R == kTileRows) __builtin_prefetch(next + 64 * word);
    I32 values[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      std::int32_t value;
      __builtin_memcpy(&value, (const char*)x + 2 * (r * strides.row + word * strides.word), 4);
      values[r] = I32{} + value;
    }
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      I32 weight;
      __builtin_memcpy(&weight, w + 4 * v * kLanes, sizeof weight);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) dot(sums[r][v], values[r], weight);
    }
  }
}

/// One panel's sums of R rows, by blocks of two rows and two outputs. An odd last row stands in
/// both rows of its block. x is [rows, steps, 8] bytes, weights [steps, kPanel, 8]. `start`
/// [kPanel] is added at the end: the blocks leave it no registers.
template <int R, class Sum, class Number>
DRAGOMAN_INLINE void multiply_blocks(const void* x, const void* weights, const char* next,
                                     std::int64_t steps, const Number* start,
                                     Sum (&sums)[R][kVectors]) {
  constexpr int kPairs = (R + 1) / 2;
  Sum blocks[kPairs][2 * kVectors] = {};
  const char* w = (const char*)weights;
  for (std::int64_t step = 0; step < steps; ++step, w += 8 * kPanel) {
    if (R == kTileRows) __builtin_prefetch(next + 64 * step);
    I32 rows[kPairs];
#pragma GCC unroll 4
    for (int pair = 0; pair < kPairs; ++pair) {
      const char* row = (const char*)x + 8 * (2 * pair * steps + step);
      typedef std::int64_t Eights __attribute__((vector_size(16)));
      Eights eights;
      __builtin_memcpy(&eights, row, 8);
      __builtin_memcpy((char*)&eights + 8, 2 * pair + 1 < R ? row + 8 * steps : row, 8);
      __builtin_memcpy(&rows[pair], &eights, sizeof eights);
    }
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < 2 * kVectors; ++v) {
      I32 outputs;
      __builtin_memcpy(&outputs, w + 4 * v * kLanes, sizeof outputs);
#pragma GCC unroll 4
      for (int pair = 0; pair < kPairs; ++pair)
        Isa::add_block(blocks[pair][v], rows[pair], outputs);
      // Otherwise g++ 12 loads all weights first, and has too few registers.
      if (v % 4 == 3) asm volatile("" : : : "memory");
    }
  }
  start_from(start, sums);
  const I32 upper = {0, 1, 4, 5}, lower = {2, 3, 6, 7};
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      const Sum(&block)[2 * kVectors] = blocks[r / 2];
      sums[r][v] =
          sums[r][v] + shuffled(block[2 * v], block[2 * v + 1], r % 2 == 0 ? upper : lower);
    }
}

template <int R>
void bf16_tile(const LinearArguments& a, std::int64_t row, std::int64_t panel) {
  const std::int64_t padded = InferenceKernels::padded_inputs(a.inputs);
  if constexpr (Isa::kDotsBf16) {
    F32 sums[R][kVectors];
    const float* bias = a.bias + panel * kPanel;
    const auto* x = (const std::uint16_t*)a.x + row * padded;
    const auto* w = (const std::uint16_t*)a.weights + panel * kPanel * padded;
    const std::int64_t steps = padded / kBf16Group;
    const char* next = asked_for(w, 2 * kPanel * padded, row, steps);
    if constexpr (Isa::kDotsBlocks) {
      multiply_blocks(x, w, next, steps, bias, sums);
    } else {
      start_from(bias, sums);
      multiply_words<R>(
          x, {.row = padded, .word = 2}, w, next, steps, sums,
          [](F32 & sum, I32 a, I32 b) __attribute__((always_inline)) { Isa::add_bf16(sum, a, b); });
    }
    store_tile<R>(a, row, panel, sums);
  } else {
    widened_tile<R, std::uint16_t>(a, row, panel, padded);
  }
}

/// One panel's sums of R rows of bytes.
template <int R>
DRAGOMAN_INLINE void multiply_bytes(const LinearArguments& a, std::int64_t row, std::int64_t panel,
                                    I32 (&sums)[R][kVectors]) {
  const std::int64_t padded = InferenceKernels::padded_inputs(a.inputs);
  const std::int32_t* offsets = a.offsets + panel * kPanel;
  const auto* x = (const std::uint8_t*)a.x + row * padded;
  const auto* w = (const std::int8_t*)a.weights + panel * kPanel * padded;
  const std::int64_t steps = padded / kInt8Group;
  const char* next = asked_for(w, kPanel * padded, row, steps);
  if constexpr (Isa::kDotsBlocks) {
    multiply_blocks(x, w, next, steps, offsets, sums);
  } else {
    start_from(offsets, sums);
    multiply_words<R>(
        x, {.row = padded / 2, .word = 2}, w, next, steps, sums,
        [](I32 & sum, I32 a, I32 b) __attribute__((always_inline)) { Isa::add_bytes(sum, a, b); });
  }
}

/// The same by pairs of bytes, which are widened.
template <int R>
DRAGOMAN_INLINE void multiply_twos(const LinearArguments& a, std::int64_t row, std::int64_t panel,
                                   I32 (&sums)[R][kVectors]) {
  start_from(a.offsets + panel * kPanel, sums);
  const std::int64_t padded = InferenceKernels::padded_inputs(a.inputs);
  const std::int8_t* w = (const std::int8_t*)a.weights + panel * kPanel * padded;
  const std::int16_t* x = (const std::int16_t*)a.x + row * padded;
  const char* next = asked_for(w, kPanel * padded, row, padded / 2);
  for (std::int64_t k = 0; k < padded; k += 2, w += kPanel * 2) {
    if (R == kTileRows) __builtin_prefetch(next + 32 * k);
    I16x2 weights[kVectors];
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      I8x2 bytes;
      __builtin_memcpy(&bytes, w + v * kLanes * 2, sizeof bytes);
      weights[v] = Isa::widen_bytes(bytes);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      std::int32_t two;
      __builtin_memcpy(&two, x + r * padded + k, 4);
      const I16x2 values = (I16x2)(I32{} + two);
#pragma GCC unroll 4
      for (std::int64_t v = 0; v < kVectors; ++v) Isa::add_pairs(sums[r][v], values, weights[v]);
    }
  }
}

/// Stores a panel's sums of R rows of bytes.
template <int R>
DRAGOMAN_INLINE void store_whole(const LinearArguments& a, std::int64_t row, std::int64_t panel,
                                 const I32 (&whole)[R][kVectors]) {
  F32 sums[R][kVectors];
#pragma GCC unroll 4
  for (std::int64_t v = 0; v < kVectors; ++v) {
    const F32 scale = load(a.weight_scales + panel * kPanel + v * kLanes);
    const F32 bias = load(a.bias + panel * kPanel + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
      sums[r][v] =
          fused(__builtin_convertvector(whole[r][v], F32), scale * a.x_scales[row + r], bias);
  }
  store_tile<R>(a, row, panel, sums);
}

template <int R>
void int8_tile(const LinearArguments& a, std::int64_t row, std::int64_t panel) {
  I32 whole[R][kVectors];
  if constexpr (Isa::kDotsBytes)
    multiply_bytes<R>(a, row, panel, whole);
  else
    multiply_twos<R>(a, row, panel, whole);
  store_whole<R>(a, row, panel, whole);
}

/// Calls tile<left>(row, panel); at most R rows are left.
template <int R, class Tile>
DRAGOMAN_INLINE void last_tile(std::int64_t left, std::int64_t row, std::int64_t panel,
                               Tile&& tile) {
  if (left == R)
    tile.template operator()<R>(row, panel);
  else if constexpr (R > 1)
    last_tile<R - 1>(left, row, panel, tile);
}

/// Calls tile<R>(row, panel) for all rows of each panel: R is kTileRows, then what is left.
template <class Tile>
DRAGOMAN_INLINE void for_tiles(std::int64_t rows, std::int64_t begin, std::int64_t end,
                               Tile&& tile) {
  for (std::int64_t panel = begin; panel < end; ++panel) {
    std::int64_t row = 0;
    for (; row + kTileRows <= rows; row += kTileRows)
      tile.template operator()<kTileRows>(row, panel);
    last_tile<kTileRows - 1>(rows - row, row, panel, tile);
  }
}

// Products in tile registers

constexpr std::int64_t kTileSide = 16;  // rows of a register; its rows have as many 32-bit words

/// Whether linear layers of bf16 or int8 are multiplied in tile registers: inputs must fill them.
/// In bf16 the order of sums is another one than without, so the number of rows does not count.
/// Bytes need enough rows.
template <NumberType kType>
DRAGOMAN_INLINE bool fits_tiles(const LinearArguments& a, std::int64_t rows) {
  if (kType == NumberType::Int8) return rows >= kTileSide && a.inputs % (4 * kTileSide) == 0;
  return rows > 0 && a.inputs % (2 * kTileSide) == 0;
}

/// Adds the products of sixteen words of all rows with one vector of the panel's outputs.
template <NumberType kType, int v, class Tiles>
DRAGOMAN_INLINE void add_tile(Tiles& tiles, const char* weights) {
  constexpr int kOutputs = 5 + v % 3;
  tiles.template load<kOutputs>(weights + v * 4 * kTileSide, 4 * kPanel);
  if constexpr (kType == NumberType::Int8)
    tiles.template add_bytes<v, 4, kOutputs>();
  else
    tiles.template add_bf16<v, 4, kOutputs>();
}

/// One panel's sums of all rows of a register: sums [rows, kPanel] of fp32 or whole numbers, which
/// begin with `start` [kPanel]. x is [rows, words], weights [words, kPanel].
template <NumberType kType, class Tiles>
DRAGOMAN_INLINE void multiply_tiles(Tiles& tiles, const char* x, const char* weights,
                                    std::int64_t words, const char* start, char* sums) {
  static_assert(std::is_void_v<Tiles> || (kVectors == 4 && kLanes == kTileSide));
  tiles.template load<0>(start, 0);
  tiles.template load<1>(start + 64, 0);
  tiles.template load<2>(start + 128, 0);
  tiles.template load<3>(start + 192, 0);
  for (std::int64_t word = 0; word < words; word += kTileSide) {
    tiles.template load<4>(x + 4 * word, 4 * words);
    const char* w = weights + word * 4 * kPanel;
    add_tile<kType, 0>(tiles, w);
    add_tile<kType, 1>(tiles, w);
    add_tile<kType, 2>(tiles, w);
    add_tile<kType, 3>(tiles, w);
  }
  tiles.template store<0>(sums, 4 * kPanel);
  tiles.template store<1>(sums + 64, 4 * kPanel);
  tiles.template store<2>(sums + 128, 4 * kPanel);
  tiles.template store<3>(sums + 192, 4 * kPanel);
}

/// The last rows are multiplied with some before them, once more, so that all registers are full.
template <NumberType kType, class Tiles>
void linear_in_tiles(const LinearArguments& a, std::int64_t rows, std::int64_t begin,
                     std::int64_t end) {
  constexpr bool kBytes = kType == NumberType::Int8;
  const std::int64_t words = a.inputs / (kBytes ? 4 : 2);
  const std::int64_t height = rows < kTileSide ? rows : kTileSide;
  Tiles tiles(height);
  for (std::int64_t panel = begin; panel < end; ++panel)
    for (std::int64_t done = 0; done < rows; done += height) {
      const std::int64_t first = done + height <= rows ? done : rows - height;
      alignas(64) char sums[4 * kTileSide * kPanel];
      const char* start = kBytes ? (const char*)a.offsets : (const char*)a.bias;
      multiply_tiles<kType>(tiles, (const char*)a.x + first * 4 * words,
                            (const char*)a.weights + panel * kPanel * 4 * words, words,
                            start + panel * kPanel * 4, sums);
      for (std::int64_t r = 0; r < height; ++r) {
        if constexpr (kBytes) {
          I32 whole[1][kVectors];
          __builtin_memcpy(whole, sums + r * 4 * kPanel, sizeof whole);
          store_whole<1>(a, first + r, panel, whole);
        } else {
          F32 row[1][kVectors];
          __builtin_memcpy(row, sums + r * 4 * kPanel, sizeof row);
          store_tile<1>(a, first + r, panel, row);
        }
      }
    }
}

template <NumberType kType>
void linear(const LinearArguments& a, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  if constexpr (kType != NumberType::Float32 && !std::is_void_v<Isa::Tiles>)
    if (fits_tiles<kType>(a, rows)) return linear_in_tiles<kType, Isa::Tiles>(a, rows, begin, end);
  for_tiles(
      rows, begin,
      end, [&]<int R>(std::int64_t row, std::int64_t panel) __attribute__((always_inline)) {
        if constexpr (kType == NumberType::Float32)
          float_tile<R>(a, row, panel);
        else if constexpr (kType == NumberType::BFloat16)
          bf16_tile<R>(a, row, panel);
        else
          int8_tile<R>(a, row, panel);
      });
}

// Activations

/// -|x|.
DRAGOMAN_INLINE F32 negative_absolute(F32 x) { return (F32)((I32)x | (std::int32_t)0x80000000); }

/// x / (1 + exp(-x)), without an exponential above 1.
DRAGOMAN_INLINE F32 swish_of(F32 x) {
  const F32 e = exp_of_negative(negative_absolute(x));
  return x * (x < 0.0F ? e : splat(1)) / (splat(1) + e);
}

/// x times the probability that a standard normal number is below x: max(x, 0) - |x| erfc(|x| /
/// sqrt(2)) / 2. With t = 1 / (1 + 0.3 |x|), exp(x^2 / 2) erfc(|x| / sqrt(2)) / 2 is t times a
/// polynomial in t, of least relative error (3e-7) for |x| < 13.
DRAGOMAN_INLINE F32 gelu_of(F32 x) {
  const F32 size = negative_absolute(x), t = splat(1) / fused(size, splat(-0.3F), splat(1));
  F32 p = splat(0.03603645F);
  p = fused(p, t, splat(-0.15871419F));
  p = fused(p, t, splat(0.20896551F));
  p = fused(p, t, splat(-0.05609664F));
  p = fused(p, t, splat(0.12984377F));
  p = fused(p, t, splat(0.09952296F));
  p = fused(p, t, splat(0.12081691F));
  p = fused(p, t, splat(0.11962517F));
  const F32 e = exp_of_negative(size * size * -0.5F);
  return fused(size * t * p, e, maximum(splat(0), x));
}

/// y = function(x), or function(gate) * x.
template <class Function>
DRAGOMAN_INLINE void activate(const ActivationArguments& a, Function&& function) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const float* x = a.x + row * a.x_stride;
    const float* gate = a.gate ? a.gate + row * a.x_stride : nullptr;
    float* y = a.y + row * a.columns;
    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      const F32 value = load_some(x + c, left, 0);
      store_some(y + c, gate ? function(load_some(gate + c, left, 0)) * value : function(value),
                 left);
    }
  }
}

void gelu(const ActivationArguments& a) {
  activate(
      a, [](F32 x) __attribute__((always_inline)) { return gelu_of(x); });
}

void swish(const ActivationArguments& a) {
  activate(
      a, [](F32 x) __attribute__((always_inline)) { return swish_of(x); });
}

DRAGOMAN_END_KERNELS
