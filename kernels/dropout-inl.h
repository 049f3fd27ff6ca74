// Dropout by itself, with a residual connection and after ReLU (DropoutRule says what is dropped).
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// hash32() of one number, or of each lane.
template <class Number>
DRAGOMAN_INLINE Number hash_of(Number x) {
  x = (x ^ (x >> 16)) * dropout_hash::kFirstFactor;
  x = (x ^ (x >> 15)) * dropout_hash::kSecondFactor;
  return x ^ (x >> 16);
}

/// The key of a head's row (DropoutRule), of one token or of a token in each lane.
template <class Number>
DRAGOMAN_INLINE Number head_key(Number token_key, const DropoutRule& d, std::int64_t head) {
  return hash_of(token_key ^ d.site * dropout_hash::kOfSite) +
         (std::uint32_t)head * dropout_hash::kOfHead;
}

DRAGOMAN_INLINE std::uint32_t row_key(const DropoutRule& d, std::int64_t row) {
  const std::int64_t t = row % d.queries, bh = row / d.queries;
  const std::uint32_t token_key = (std::uint32_t)d.row_keys[bh / d.heads * d.queries + t];
  return head_key(token_key, d, bh % d.heads);
}

/// The factors (0 or scale) of columns [block, block + 64): 16 hashes give 64 bytes; byte j of hash
/// l decides column 4 * l + j.
struct Factors {
  float column[64];
};

DRAGOMAN_INLINE void dropout_factors(std::uint32_t key, std::int64_t block, std::uint32_t threshold,
                                     float scale, Factors& factors) {
  std::uint8_t bytes[64];
  for (int group = 0; group < 16; group += kLanes) {
    const U32 x = hash_of(key + ((std::uint32_t)(block / 4 + group) + (U32)lane_numbers()) *
                                    dropout_hash::kOfColumns);
    __builtin_memcpy(bytes + 4 * group, &x, sizeof x);
  }
  for (int i = 0; i < 64; ++i) factors.column[i] = bytes[i] < threshold ? 0.0F : scale;
}

/// One row of y = residual + dropout(x), or of dropout(relu(x)); the residual may be null, and the
/// keys of the dropout.
template <bool kRelu, class T>
DRAGOMAN_INLINE void add_dropped_row(const T* x, const T* residual, T* y, std::int64_t columns,
                                     const DropoutRule& dropout, std::int64_t row) {
  const bool drops = dropout.row_keys != nullptr;
  const std::uint32_t key = drops ? row_key(dropout, row) : 0;
  const float scale = dropout.scale();
  for (std::int64_t block = 0; block < columns; block += 64) {
    Factors factors;
    if (drops) dropout_factors(key, block, dropout.threshold, scale, factors);
    const std::int64_t stop = columns - block < 64 ? columns - block : 64;
    for (std::int64_t c = 0; c < stop; c += kLanes) {
      F32 value = load_some(x + block + c, stop - c, 0);
      if (kRelu) value = value < 0.0F ? splat(0) : value;  // NaN stays NaN
      if (drops) value = value * load(factors.column + c);
      if (residual) value = value + load_some(residual + block + c, stop - c, 0);
      store_some(y + block + c, value, stop - c);
    }
  }
}

template <class E>
void dropout(const DropoutArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t at = row * a.columns;
    add_dropped_row<false>((const T*)a.x + at, a.residual ? (const T*)a.residual + at : nullptr,
                           (T*)a.y + at, a.columns, a.dropout, row);
  }
}

template <class E>
void relu_dropout(const ReluDropoutArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t at = row * a.columns;
    add_dropped_row<true>((const T*)a.x + at, (const T*)nullptr, (T*)a.y + at, a.columns, a.dropout,
                          row);
  }
}

template <class E>
void relu_dropout_gradient(const ReluDropoutGradientArguments& a, std::int64_t begin,
                           std::int64_t end) {
  typedef typename E::Type T;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t at = row * a.columns;
    for (std::int64_t c = 0; c < a.columns; c += kLanes) {
      const std::int64_t left = a.columns - c;
      const F32 y = load_some((const T*)a.y + at + c, left, 0);
      const F32 dy = load_some((const T*)a.dy + at + c, left, 0) * a.scale;
      store_some((T*)a.dx + at + c, y > 0.0F ? dy : splat(0), left);
    }
  }
}

DRAGOMAN_END_KERNELS
