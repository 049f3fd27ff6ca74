// The loss of an output projection without its logits.
#pragma once

#include <cstdint>

#include "kernels/bf16_products-inl.h"
#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// Totals from here on leave too little of fp32's range to go on with.
constexpr float kLargestTotal = 0x1p90F;

template <class T>
DRAGOMAN_INLINE float dot(const std::uint16_t* a, const T* b, std::int64_t count) {
  return sum_of(
      count, [&](F32 sum, std::int64_t c, std::int64_t left) __attribute__((always_inline)) {
        return fused(load_some(a + c, left, 0), load_some(b + c, left, 0), sum);
      });
}

/// What is left to do for a row when its exponentials are there.
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

DRAGOMAN_END_KERNELS
