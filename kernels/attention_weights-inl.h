// Attention weights from scores: softmax over the keys of a sentence, then dropout.
#pragma once

#include <cstdint>

#include "kernels/dropout-inl.h"
#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

template <class E>
void attention_weights(const AttentionWeightsArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  const bool drops = a.dropout.row_keys != nullptr;
  const float drop_scale = a.dropout.scale();
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t t = row % a.queries, sentence = row / a.queries / a.heads;
    std::int64_t length = a.key_lengths[sentence];
    if (a.causal && t + 1 < length) length = t + 1;
    const T* scores = (const T*)a.scores + row * a.keys;
    T* weights = (T*)a.weights + row * a.keys;
    T* dropped = (T*)a.dropped + row * a.keys;

    F32 largest = splat(-__builtin_inff());
    for (std::int64_t s = 0; s < length; s += kLanes)
      largest = maximum(load_some(scores + s, length - s, -__builtin_inff()), largest);
    const float top = max_lanes(largest);

    F32 sums = splat(0);
    for (std::int64_t s = 0; s < length; s += kLanes) {
      F32 e = exp_of_negative((load_some(scores + s, length - s, top) - top) * a.scale);
      if (length - s < kLanes) e = keep_first(e, length - s, 0);
      sums = sums + e;
    }
    const float inverse = 1.0F / sum_lanes(sums);

    const std::uint32_t key = drops ? row_key(a.dropout, row) : 0;
    for (std::int64_t block = 0; block < a.keys; block += 64) {
      Factors factors;
      if (drops && block < length)
        dropout_factors(key, block, a.dropout.threshold, drop_scale, factors);
      for (std::int64_t s = block; s < a.keys && s < block + 64; s += kLanes) {
        const std::int64_t left = a.keys - s;
        F32 w = splat(0);
        if (s < length) {
          w = exp_of_negative((load_some(scores + s, length - s, top) - top) * a.scale) * inverse;
          if (length - s < kLanes) w = keep_first(w, length - s, 0);
        }
        store_some(weights + s, w, left);
        if (drops)
          store_some(dropped + s, s < length ? w * load(factors.column + (s - block)) : w, left);
      }
    }
  }
}

template <class E>
void attention_weights_gradient(const AttentionWeightsGradientArguments& a, std::int64_t begin,
                                std::int64_t end) {
  typedef typename E::Type T;
  const bool drops = a.dropout.row_keys != nullptr;
  const float drop_scale = a.dropout.scale();
  for (std::int64_t row = begin; row < end; ++row) {
    const T* weights = (const T*)a.weights + row * a.keys;
    const T* d_dropped = (const T*)a.d_dropped + row * a.keys;
    T* d_scores = (T*)a.d_scores + row * a.keys;
    const std::uint32_t key = drops ? row_key(a.dropout, row) : 0;
    // Two passes: the dot product of weights and their gradients, then weights * (gradient - dot).
    F32 dots = splat(0);
    float dot = 0;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t block = 0; block < a.keys; block += 64) {
        Factors factors;
        if (drops) dropout_factors(key, block, a.dropout.threshold, drop_scale, factors);
        for (std::int64_t s = block; s < a.keys && s < block + 64; s += kLanes) {
          const std::int64_t left = a.keys - s;
          const F32 w = load_some(weights + s, left, 0);
          F32 d = load_some(d_dropped + s, left, 0);
          if (drops) d = d * load(factors.column + (s - block));
          if (pass == 0)
            dots = dots + w * d;
          else
            store_some(d_scores + s, w * (d - dot) * a.scale, left);
        }
      }
      if (pass == 0) dot = sum_lanes(dots);
    }
  }
}

DRAGOMAN_END_KERNELS
