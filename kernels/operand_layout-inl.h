// How the factors of a linear layer lie in memory: weights packed once, panel after panel of
// outputs, and activations rounded to bf16 or bytes for each product.
#pragma once

#include <cstdint>

#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

// In registers a tile has kTileRows * kVectors sums, kVectors weights and an input: 29 of 32
// registers (AVX-512, NEON), 15 of 16 (AVX2, SSE2).
constexpr std::int64_t kVectors = Isa::kRegisters == 32 ? 4 : 2;  // of a panel
constexpr std::int64_t kPanel = kVectors * kLanes;
constexpr int kTileRows = 6;

/// Whole numbers in the order of the absolute values; infinity and NaN are the greatest.
DRAGOMAN_INLINE I32 bits_of_absolute(F32 x) { return (I32)x & 0x7FFFFFFF; }

/// x * factor, rounded.
DRAGOMAN_INLINE I32 whole_numbers(F32 x, F32 factor) {
  const F32 magic = splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to a whole number
  return (I32)fused(x, factor, magic) - (I32)magic;
}

DRAGOMAN_INLINE void store_bytes(void* p, I32 numbers) {
  const I8 bytes = Isa::low_bytes(numbers);
  __builtin_memcpy(p, &bytes, sizeof bytes);
}

void pack_float(const float* weights, std::int64_t outputs, std::int64_t inputs, float* packed) {
  for (std::int64_t panel = 0; panel * kPanel < outputs; ++panel)
    for (std::int64_t k = 0; k < inputs; ++k)
      for (std::int64_t c = 0; c < kPanel; ++c) {
        const std::int64_t output = panel * kPanel + c;
        *packed++ = output < outputs ? weights[output * inputs + k] : 0.0F;
      }
}

// Inputs of an output side by side: as many as one instruction multiplies.
constexpr std::int64_t kBf16Group = Isa::kDotsBlocks ? 4 : Isa::kDotsBf16 ? 2 : 1;
constexpr std::int64_t kInt8Group = Isa::kDotsBlocks ? 8 : Isa::kDotsBytes ? 4 : 2;

/// packed [panel][inputs / kBf16Group][output][kBf16Group]
void pack_bf16(const float* weights, std::int64_t outputs, std::int64_t inputs,
               std::uint16_t* packed) {
  const std::int64_t padded = InferenceKernels::padded_inputs(inputs);
  for (std::int64_t output = 0; output < (outputs + kPanel - 1) / kPanel * kPanel; ++output) {
    std::uint16_t* at = packed + output / kPanel * kPanel * padded + output % kPanel * kBf16Group;
    for (std::int64_t k = 0; k < padded; ++k) {
      std::uint32_t bits = 0;
      if (output < outputs && k < inputs)
        __builtin_memcpy(&bits, weights + output * inputs + k, sizeof bits);
      const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
      at[k / kBf16Group * kPanel * kBf16Group + k % kBf16Group] =
          (std::uint16_t)(is_nan ? 0x7FC0 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
    }
  }
}

/// Bf16 if the set multiplies it, or fp32 again.
void round_bf16(const float* x, std::int64_t rows, std::int64_t inputs, void* rounded) {
  const std::int64_t padded = InferenceKernels::padded_inputs(inputs);
  for (std::int64_t r = 0; r < rows; ++r, x += inputs)
    for (std::int64_t k = 0; k < padded; k += kLanes) {
      const F32 value =
          k < inputs ? load_some(x + k, inputs - k, 0) : splat(0);  // zero for padding
      std::uint16_t halves[kLanes];
      store(halves, value);
      if (Isa::kDotsBf16)
        store_some((std::uint16_t*)rounded + r * padded + k, load(halves), padded - k);
      else
        store_some((float*)rounded + r * padded + k, load(halves), padded - k);
    }
}

/// packed [panel][inputs / kInt8Group][output][kInt8Group]. If dot products of bytes take one
/// factor without a sign, activations are stored as value + Isa::kByteExcess. The offsets subtract
/// the excess times the sum of the weights.
void pack_int8(const std::int8_t* weights, std::int64_t outputs, std::int64_t inputs,
               std::int8_t* packed, std::int32_t* offsets) {
  const std::int64_t padded = InferenceKernels::padded_inputs(inputs);
  for (std::int64_t output = 0; output < (outputs + kPanel - 1) / kPanel * kPanel; ++output) {
    std::int8_t* at = packed + output / kPanel * kPanel * padded + output % kPanel * kInt8Group;
    std::int32_t sum = 0;
    for (std::int64_t k = 0; k < padded; ++k) {
      const std::int8_t weight =
          output < outputs && k < inputs ? weights[output * inputs + k] : std::int8_t{0};
      at[k / kInt8Group * kPanel * kInt8Group + k % kInt8Group] = weight;
      sum += weight;
    }
    offsets[output] = -Isa::kByteExcess * sum;
  }
}

/// Bytes that a quantized activation takes. Without dot products of bytes it has 16 bits, since the
/// sums of products of bytes would saturate.
constexpr std::int64_t kQuantizedBytes = Isa::kDotsBytes ? 1 : 2;

DRAGOMAN_INLINE void store_quantized(std::uint8_t* row, std::int64_t k, I32 numbers) {
  if constexpr (Isa::kDotsBytes) {
    store_bytes(row + k, numbers + Isa::kByteExcess);
  } else {
    const I16 narrow = __builtin_convertvector(numbers, I16);
    __builtin_memcpy(row + 2 * k, &narrow, sizeof narrow);
  }
}

void quantize(const float* x, std::int64_t rows, std::int64_t inputs, void* quantized,
              float* scales) {
  const std::int64_t padded = InferenceKernels::padded_inputs(inputs);
  for (std::int64_t r = 0; r < rows; ++r, x += inputs) {
    std::uint8_t* row = (std::uint8_t*)quantized + r * padded * kQuantizedBytes;
    I32 largest = {};
    for (std::int64_t k = 0; k < inputs; k += kLanes)
      largest = maximum(bits_of_absolute(load_some(x + k, inputs - k, 0)), largest);
    const float most = ((F32)max_apart<1>(largest))[0];
    const F32 inverse = splat(most > 0 ? 127.0F / most : 0.0F);
    scales[r] = most / 127.0F + (most - most);  // NaN if one is not finite
    std::int64_t k = 0;
    for (; k + kLanes <= inputs; k += kLanes)
      store_quantized(row, k, whole_numbers(load(x + k), inverse));
    for (; k < padded; k += kLanes) {
      const std::int64_t left = padded - k < kLanes ? padded - k : kLanes;
      std::uint8_t last[kLanes * kQuantizedBytes];
      const F32 part = k < inputs ? load_part(x + k, inputs - k, 0) : splat(0);
      store_quantized(last, 0, whole_numbers(part, inverse));
      __builtin_memcpy(row + k * kQuantizedBytes, last, left * kQuantizedBytes);
    }
  }
}

/// Weights are packed [panel][padded inputs / Group][output][Group].
template <std::int64_t Group, class Weight, class Widen>
DRAGOMAN_INLINE void add_packed(const Weight* packed, std::int64_t inputs, std::int64_t padded,
                                std::int64_t output, float factor, float* y, Widen&& widen) {
  const Weight* group = packed + output / kPanel * kPanel * padded + output % kPanel * Group;
  std::int64_t k = 0;
  for (; k + Group <= inputs; k += Group, group += kPanel * Group)
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < Group; ++i) y[k + i] = fused(factor, widen(group[i]), y[k + i]);
  for (; k < inputs; ++k, ++group) y[k] = fused(factor, widen(*group), y[k]);
}

void add_weights_float(const void* packed, std::int64_t inputs, std::int64_t output, float factor,
                       float* y) {
  add_packed<1>((const float*)packed, inputs, inputs, output, factor, y, [](float w) { return w; });
}

void add_weights_bf16(const void* packed, std::int64_t inputs, std::int64_t output, float factor,
                      float* y) {
  add_packed<kBf16Group>((const std::uint16_t*)packed, inputs,
                         InferenceKernels::padded_inputs(inputs), output, factor, y,
                         [](std::uint16_t w) {
                           const std::uint32_t bits = (std::uint32_t)w << 16;
                           float x;
                           __builtin_memcpy(&x, &bits, sizeof x);
                           return x;
                         });
}

void add_weights_int8(const void* packed, std::int64_t inputs, std::int64_t output, float factor,
                      float* y) {
  add_packed<kInt8Group>((const std::int8_t*)packed, inputs,
                         InferenceKernels::padded_inputs(inputs), output, factor, y,
                         [](std::int8_t w) { return (float)w; });
}

DRAGOMAN_END_KERNELS
