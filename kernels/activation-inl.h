// GELU and Swish. (ReLU is applied by the linear layers.)
#pragma once

#include <cstdint>

#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

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
