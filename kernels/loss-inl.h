// Cross-entropy with label smoothing, and R-Drop: losses of rows of logits and their gradients.
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

/// Exponentials of a row with up to so many columns are kept in the frame; those of a longer one
/// are computed twice.
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

/// Gradients of the row's objective in the logits of both passes, but for the target's own part:
/// `l` and `m` are the logarithms of their probabilities, `forth` is KL(first || second), `back`
/// the other.
struct RDropGradients {
  F32 first, second;

  RDropGradients(F32 l, F32 m, float forth, float back, const RDropArguments& a) {
    const F32 p = exp_of_negative(l), q = exp_of_negative(m), ratio = l - m;
    const float floor = a.smoothing / (float)a.columns, agreement = a.alpha * 0.25F;
    first = (p - floor) * 0.5F + (p * (ratio - forth) + p - q) * agreement;
    second = (q - floor) * 0.5F + (q - p - q * (ratio + back)) * agreement;
  }
};

template <class E>
void r_drop(const RDropArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  for (std::int64_t row = begin; row < end; ++row) {
    T* first = (T*)a.first + row * a.columns;
    T* second = (T*)a.second + row * a.columns;
    const std::int64_t target = a.targets[row];
    if (target < 0) {
      for (std::int64_t c = 0; c < a.columns; ++c) first[c] = second[c] = 0;
      a.losses[row] = a.negative_log_likelihoods[row] = a.divergences[row] = 0;
      continue;
    }
    const RowSoftmax s = row_softmax(first, a.columns, nullptr),
                     t = row_softmax(second, a.columns, nullptr);
    F32 first_sums = splat(0), second_sums = splat(0);
    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      const F32 l = load_some(first + c, left, 0) - s.log_total;
      const F32 m = load_some(second + c, left, 0) - t.log_total;
      F32 forth = exp_of_negative(l) * (l - m), back = exp_of_negative(m) * (m - l);
      if (left < kLanes) {
        forth = keep_first(forth, left, 0);
        back = keep_first(back, left, 0);
      }
      first_sums = first_sums + forth;
      second_sums = second_sums + back;
    }
    const float forth = sum_lanes(first_sums), back = sum_lanes(second_sums);

    const float l = element(first + target) - s.log_total,
                m = element(second + target) - t.log_total;
    const float mean = 0.5F * (s.log_total - s.mean + t.log_total - t.mean);
    a.negative_log_likelihoods[row] = -0.5F * (l + m);
    a.losses[row] = (1 - a.smoothing) * -0.5F * (l + m) + a.smoothing * mean;
    a.divergences[row] = 0.5F * (forth + back);

    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      const RDropGradients gradients(load_some(first + c, left, 0) - s.log_total,
                                     load_some(second + c, left, 0) - t.log_total, forth, back, a);
      store_some(first + c, gradients.first, left);
      store_some(second + c, gradients.second, left);
    }
    const RDropGradients of_target(splat(l), splat(m), forth, back, a);
    const float own = 0.5F * (1 - a.smoothing);
    store_element(first + target, of_target.first[0] - own);
    store_element(second + target, of_target.second[0] - own);
  }
}

DRAGOMAN_END_KERNELS
