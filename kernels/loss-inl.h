// Cross-entropy with label smoothing: losses of rows of logits and their gradients.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// Facts about a row of logits: its mean, and its softmax exp(x - top) * inverse =
/// exp(x - log_total).
struct RowSoftmax {
  float mean, top, log_total, inverse;
};

/// `exponentials`, if not null, get exp(x - top) of the row.
template <class T>
DRAGOMAN_INLINE RowSoftmax row_softmax(const T* logits, std::int64_t columns, float* exponentials) {
  const float low = -__builtin_inff();
  const std::int64_t whole = columns / kLanes * kLanes, rest = columns - whole;
  F32 largest = splat(low), sums = splat(0);
  for (std::int64_t c = 0; c < whole; c += kLanes) {
    const F32 x = load(logits + c);
    largest = maximum(x, largest);
    sums = sums + x;
  }
  if (rest > 0) {
    largest = maximum(load_part(logits + whole, rest, low), largest);
    sums = sums + load_part(logits + whole, rest, 0);
  }
  const float top = max_lanes(largest);

  F32 totals = splat(0);
  for (std::int64_t c = 0; c < whole; c += kLanes) {
    const F32 e = exp_of_negative(load(logits + c) - top);
    totals = totals + e;
    if (exponentials) store(exponentials + c, e);
  }
  if (rest > 0) {
    const F32 e = keep_first(exp_of_negative(load_part(logits + whole, rest, low) - top), rest, 0);
    totals = totals + e;
    if (exponentials) store(exponentials + whole, e);
  }
  const float total = sum_lanes(totals);
  return {sum_lanes(sums) / (float)columns, top, __builtin_logf(total) + top, 1.0F / total};
}

/// The most columns of a row whose exponentials are kept in the frame. Those of a longer row are
/// computed twice.
constexpr std::int64_t kColumnsInFrame = 1 << 17;

template <class E>
void loss(const LossArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  float* exponentials =
      a.columns <= kColumnsInFrame ? DRAGOMAN_FRAME_FLOATS(a.columns + kLanes) : nullptr;
  for (std::int64_t row = begin; row < end; ++row) {
    T* logits = (T*)a.logits + row * a.columns;
    const std::int64_t target = a.targets[row];
    if (target < 0) {
      for (std::int64_t c = 0; c < a.columns; ++c) logits[c] = 0;
      a.losses[row] = a.negative_log_likelihoods[row] = 0;
      continue;
    }
    const RowSoftmax s = row_softmax(logits, a.columns, exponentials);
    const float target_logit = element(logits + target);
    a.negative_log_likelihoods[row] = s.log_total - target_logit;
    a.losses[row] =
        (1 - a.smoothing) * (s.log_total - target_logit) + a.smoothing * (s.log_total - s.mean);

    const float floor = a.smoothing / (float)a.columns;
    const auto write = [&](auto&& exponential) __attribute__((always_inline)) {
      for (std::int64_t c = 0; c < a.columns; c += kLanes)
        store_some(logits + c, exponential(c) * s.inverse - floor, a.columns - c);
    };
    if (exponentials)
      write([&](std::int64_t c) __attribute__((always_inline)) { return load(exponentials + c); });
    else
      write([&](std::int64_t c) __attribute__((always_inline)) {
        return exp_of_negative(load_some(logits + c, a.columns - c, 0) - s.top);
      });
    const float p = __builtin_expf(target_logit - s.log_total);
    store_element(logits + target, p - floor - (1 - a.smoothing));
  }
}

DRAGOMAN_END_KERNELS
