// Attention of one row to records of fp32 or bf16.
#pragma once

#include <cstdint>

#include "kernels/cached_attention-inl.h"
#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// N vectors of the output from number `first` of a slice on: the values by their weights.
template <int L, int N, class Number>
DRAGOMAN_INLINE void mix_floats(const RowAttentionArguments& a, std::int64_t bytes,
                                std::int64_t slice, std::int64_t slices, std::int64_t first) {
  const std::int64_t at = (slice + first * slices) * kLanes;
  F32 sums[N];
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) sums[n] = splat(0);
  for (std::int64_t position = 0; position < a.length; ++position) {
    const auto* value = (const Number*)record_of(a, position, bytes) + a.order.width + at;
    const F32 weight = of_position<L>(a.scratch, a.order, position, slice);
#pragma GCC unroll 16
    for (int n = 0; n < N; ++n) sums[n] = fused(weight, load(value + n * slices * kLanes), sums[n]);
  }
#pragma GCC unroll 16
  for (int n = 0; n < N; ++n) store(a.output + at + n * slices * kLanes, sums[n]);
}

template <int L, class Number>
void attend_floats(const RowAttentionArguments& arguments) {
  const RowAttentionArguments a = arguments;  // a copy: the compiler sees that no store changes it
  constexpr NumberType kType = sizeof(Number) == 2 ? NumberType::BFloat16 : NumberType::Float32;
  const std::int64_t bytes = a.order.record_bytes(kType), slices = slices_of<L>(a.order);
  const std::int64_t vectors = a.order.width / kLanes / slices;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    for (std::int64_t i = 0; i < vectors_of<L>(a.length); i += kTogether<L>) {
      F32 products[kTogether<L>];
      products_of_positions<L>(
          a, bytes, i, slice, a.order.width / kLanes, products,
          [&](std::int64_t c) __attribute__((always_inline)) { return load(a.q + c * kLanes); },
          [](F32 & sum, const std::uint8_t* key, std::int64_t c, F32 q) __attribute__((
              always_inline)) { sum = sum + q * load((const Number*)key + c * kLanes); });
      for (std::int64_t v = 0; v < kTogether<L> && i + v < vectors_of<L>(a.length); ++v)
        store(a.scratch + ((i + v) * slices + slice) * kLanes, a.scale * products[v]);
    }
    softmax_over_positions<L>(a, slice);
    constexpr int kMost = Isa::kRegisters == 32 ? 16 : 8;  // sums in registers
    std::int64_t first = 0;
    for (; first + kMost <= vectors; first += kMost)
      mix_floats<L, kMost, Number>(a, bytes, slice, slices, first);
    for (; first < vectors; first += 4) mix_floats<L, 4, Number>(a, bytes, slice, slices, first);
  }
}

DRAGOMAN_END_KERNELS
