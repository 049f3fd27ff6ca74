// Attention of one row to the records of a cache: scores, softmax and sums over the positions. In
// HeadOrder the lanes of a vector are heads. L = min(order.lanes, kLanes) of them differ: lane i
// belongs to head i % L. With more heads than lanes, the heads are cut into slices of kLanes heads,
// and vector v belongs to slice v % slices.
#pragma once

#include <cstdint>

#include "kernels/inference_kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

template <int L>
DRAGOMAN_INLINE std::int64_t slices_of(const HeadOrder& order) {
  return L < kLanes ? 1 : order.lanes / kLanes;
}

DRAGOMAN_INLINE const std::uint8_t* record_of(const RowAttentionArguments& a, std::int64_t position,
                                              std::int64_t bytes) {
  return a.cache + (a.records ? a.records[position] : position) * bytes;
}

// Scores and weights are [length, lanes]: a number for each position and head. A vector holds
// kLanes / L positions, or one slice of one position.

template <int L>
DRAGOMAN_INLINE std::int64_t vectors_of(std::int64_t length) {
  constexpr std::int64_t kPositions = kLanes / L;
  return (length + kPositions - 1) / kPositions;
}

/// `position`, or the last one if it is behind the last.
DRAGOMAN_INLINE std::int64_t position_or_last(std::int64_t position, std::int64_t length) {
  return position < length ? position : length - 1;
}

/// Vector number `vector` of a slice of [length, lanes]: the lanes of each of its positions come
/// from read(position), a vector in which the heads repeat.
template <int L, class Read>
DRAGOMAN_INLINE auto from_positions(std::int64_t vector, std::int64_t length, Read&& read) {
  constexpr std::int64_t kPositions = kLanes / L;
  auto x = read(vector * kPositions);
#pragma GCC unroll 16
  for (std::int64_t i = 1; i < kPositions; ++i) {
    const auto next = read(position_or_last(vector * kPositions + i, length));
    x = lane_numbers() < (std::int32_t)(i * L) ? x : next;
  }
  return x;
}

/// How many vectors are computed at once: at least four positions, since the additions to one sum
/// wait for each other.
template <int L>
constexpr int kTogether = kLanes / L < 4 ? 4 * L / kLanes : 1;

/// The query's products with the keys of kTogether<L> vectors of positions. Of `steps` in all,
/// those of the slice are taken: add(sum, key, step, numbers) with the query's numbers(step).
template <int L, class Sum, class Numbers, class Add>
DRAGOMAN_INLINE void products_of_positions(const RowAttentionArguments& a, std::int64_t bytes,
                                           std::int64_t vector, std::int64_t slice,
                                           std::int64_t steps, Sum (&products)[kTogether<L>],
                                           Numbers&& numbers, Add&& add) {
  constexpr std::int64_t kPositions = kLanes / L, kKeys = kTogether<L> * kPositions;
  const std::uint8_t* keys[kKeys];
  Sum sums[kKeys];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < kKeys; ++i) {
    keys[i] = record_of(a, position_or_last(vector * kPositions + i, a.length), bytes);
    sums[i] = Sum{};
  }
  for (std::int64_t step = slice; step < steps; step += slices_of<L>(a.order)) {
    const auto of_query = numbers(step);
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < kKeys; ++i) add(sums[i], keys[i], step, of_query);
  }
#pragma GCC unroll 4
  for (std::int64_t v = 0; v < kTogether<L>; ++v)
    products[v] = from_positions<L>(
        v, kKeys, [&](std::int64_t i) __attribute__((always_inline)) {
          return sum_apart<L>(sums[i]);
        });
}

/// `fill` in the lanes behind the last position.
template <int L>
DRAGOMAN_INLINE F32 keep_positions(F32 x, std::int64_t vector, std::int64_t length, float fill) {
  const std::int64_t left = (length - vector * (kLanes / L)) * L;
  return left < kLanes ? keep_first(x, left, fill) : x;
}

/// Every lane the sum of its head's terms, which are zero behind the last position. With up to
/// sixteen heads in sixteen columns, one position after another, so that all instruction sets add
/// in one order.
template <int L, class Term>
DRAGOMAN_INLINE F32 sum_over_positions(const HeadOrder& order, std::int64_t vectors, Term&& term) {
  const std::int64_t columns =
      order.lanes >= 16 ? 1 : 16 / (order.lanes > kLanes ? order.lanes : kLanes);
  F32 sums[16 / kLanes];
#pragma GCC unroll 4
  for (F32& sum : sums) sum = splat(0);
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    F32& sum = sums[kLanes == 16 ? 0 : vector % columns];
    sum = sum + term(vector);
  }
  for (std::int64_t half = columns / 2; half > 0; half /= 2)
    for (std::int64_t i = 0; i < half; ++i) sums[i] = sums[i] + sums[i + half];
  return sum_apart<L>(sums[0]);
}

/// Scores of a slice -> their softmax over the positions.
template <int L>
DRAGOMAN_INLINE void softmax_over_positions(const RowAttentionArguments& a, std::int64_t slice) {
  const std::int64_t vectors = vectors_of<L>(a.length), stride = slices_of<L>(a.order) * kLanes;
  float* scores = a.scratch + slice * kLanes;
  F32 largest = splat(-__builtin_inff());
  for (std::int64_t i = 0; i < vectors; ++i) {
    const F32 score = keep_positions<L>(load(scores + i * stride), i, a.length, -__builtin_inff());
    largest = maximum(largest, score);
  }
  largest = max_apart<L>(largest);
  const F32 sum = sum_over_positions<L>(
      a.order, vectors, [&](std::int64_t i) __attribute__((always_inline)) {
        const F32 e = exp_of_negative(load(scores + i * stride) - largest);
        store(scores + i * stride, keep_positions<L>(e, i, a.length, 0));
        return load(scores + i * stride);
      });
  const F32 inverse = 1.0F / sum;
  for (std::int64_t i = 0; i < vectors; ++i)
    store(scores + i * stride, load(scores + i * stride) * inverse);
}

/// The numbers of one position in [length, lanes], repeated to fill the vector.
template <int L>
DRAGOMAN_INLINE F32 of_position(const float* x, const HeadOrder& order, std::int64_t position,
                                std::int64_t slice) {
  const F32 lanes = load(x + position * order.lanes + slice * kLanes);
  return L == kLanes ? lanes : __builtin_shuffle(lanes, lane_numbers() % L);
}

DRAGOMAN_END_KERNELS
