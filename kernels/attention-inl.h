// Attention of whole batches, forward and backward: the weights alone, for the padded path, and
// attention of a packed batch.
#pragma once

#include <cstdint>

#include "kernels/dropout-inl.h"
#include "kernels/kernels.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

// Attention weights from scores: softmax over the keys of a sentence, then dropout

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

// Small matrices in fp32 that fit the first-level cache: products and transposition

DRAGOMAN_INLINE std::int64_t round_to_lanes(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

/// rows [count, d_k] at stride -> fp32 [count, width], zero beyond d_k. Prefetches the numbers
/// after each row, which are the next head's.
template <class T>
DRAGOMAN_INLINE void load_rows(const T* rows, std::int64_t stride, std::int64_t count,
                               std::int64_t d_k, std::int64_t width, float* to) {
  for (std::int64_t r = 0; r < count; ++r, rows += stride, to += width) {
    std::int64_t d = 0;
    for (; d + kLanes <= d_k; d += kLanes) {
      __builtin_prefetch(rows + d_k + d);
      store(to + d, load(rows + d));
    }
    if (d < width) store(to + d, load_part(rows + d, d_k - d, 0));
  }
}

/// fp32 [count, width] -> rows [count, d_k] at stride.
template <class T>
DRAGOMAN_INLINE void store_rows(const float* from, std::int64_t width, std::int64_t count,
                                std::int64_t d_k, T* rows, std::int64_t stride) {
  for (std::int64_t r = 0; r < count; ++r, rows += stride, from += width)
    for (std::int64_t d = 0; d < d_k; d += kLanes) store_some(rows + d, load(from + d), d_k - d);
}

/// One step of the transposition of kLanes rows: in each square of 2 * H rows and lanes the upper
/// right quarter and the lower left one are exchanged.
template <int H>
DRAGOMAN_INLINE void swap_quarters(F32 (&rows)[kLanes]) {
  const I32 lane = lane_numbers();
  const I32 upper = (lane & H) == 0 ? lane : lane - H + (std::int32_t)kLanes;
  const I32 lower = (lane & H) == 0 ? lane + H : lane + (std::int32_t)kLanes;
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) {
    if (i & H) continue;
    const F32 a = rows[i], b = rows[i + H];
    rows[i] = shuffled(a, b, upper);
    rows[i + H] = shuffled(a, b, lower);
  }
  if constexpr (2 * H < kLanes) swap_quarters<2 * H>(rows);
}

/// [count, width] -> [width, columns], zero beyond count; width and columns are multiples of
/// the lanes.
DRAGOMAN_INLINE void transpose(const float* rows, std::int64_t count, std::int64_t width,
                               std::int64_t columns, float* to) {
  for (std::int64_t r = 0; r < columns; r += kLanes)
    for (std::int64_t d = 0; d < width; d += kLanes) {
      F32 square[kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i)
        square[i] = r + i < count ? load(rows + (r + i) * width + d) : splat(0);
      swap_quarters<1>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes; ++i) store(to + (d + i) * columns + r, square[i]);
    }
}

/// c[i, :] (+)= sum over k of a[i, k] * b[k, :], a tile of R rows and C vectors. Element (i, k) of
/// `a` stands at i * a_row + k * a_step, so `a` may be transposed.
template <int R, int C>
DRAGOMAN_INLINE void multiply_tile(const float* a, std::int64_t a_row, std::int64_t a_step,
                                   const float* b, std::int64_t b_stride, std::int64_t inner,
                                   float* c, std::int64_t c_stride, bool adds) {
  F32 sums[R][C];
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) sums[i][j] = adds ? load(c + i * c_stride + j * kLanes) : splat(0);
  for (std::int64_t k = 0; k < inner; ++k) {
    F32 row[C];
    for (int j = 0; j < C; ++j) row[j] = load(b + k * b_stride + j * kLanes);
    for (int i = 0; i < R; ++i) {
      const F32 x = splat(a[i * a_row + k * a_step]);
      for (int j = 0; j < C; ++j) sums[i][j] = fused(x, row[j], sums[i][j]);
    }
  }
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < C; ++j) store(c + i * c_stride + j * kLanes, sums[i][j]);
}

struct Matrix {
  const float* data;
  std::int64_t row, step;  ///< distances of element (i, k) to (i + 1, k) and to (i, k + 1)
};

/// Some columns of multiply(), C vectors, in tiles of R rows; the rest in tiles of fewer.
template <int R, int C>
DRAGOMAN_INLINE void multiply_strip(const Matrix& a, const float* b, std::int64_t b_stride,
                                    std::int64_t rows, std::int64_t inner, float* c,
                                    std::int64_t c_stride, bool adds) {
  std::int64_t i = 0;
  for (; i + R <= rows; i += R)
    multiply_tile<R, C>(a.data + i * a.row, a.row, a.step, b, b_stride, inner, c + i * c_stride,
                        c_stride, adds);
  if constexpr (R > 1)
    if (i < rows)
      multiply_strip<R / 2, C>({a.data + i * a.row, a.row, a.step}, b, b_stride, rows - i, inner,
                               c + i * c_stride, c_stride, adds);
}

/// c [rows, columns] (+)= a [rows, inner] * b [inner, columns]; columns is a multiple of the lanes.
static inline void multiply(const Matrix& a, const float* b, std::int64_t b_stride,
                            std::int64_t rows, std::int64_t inner, std::int64_t columns, float* c,
                            std::int64_t c_stride, bool adds) {
  std::int64_t j = 0;
  for (; j + 2 * kLanes <= columns; j += 2 * kLanes)
    multiply_strip<8, 2>(a, b + j, b_stride, rows, inner, c + j, c_stride, adds);
  if (j < columns) multiply_strip<8, 1>(a, b + j, b_stride, rows, inner, c + j, c_stride, adds);
}

// Attention of a packed batch. One task is one head of one sentence: its keys and values fit the
// first-level cache

/// Queries that are computed together. Their scores, weights and gradients stand in columns, [keys,
/// queries]: softmax goes down a query's column, with a lane for each query.
constexpr std::int64_t kQueries = 32;

/// Some queries of a sentence and the keys that they may see.
struct QueryBlock {
  std::int64_t first, count;  ///< tokens [first, first + count)
  std::int64_t position;      ///< of the first in its sentence
  std::int64_t keys;          ///< of the sentence
  bool causal;

  std::int64_t columns() const { return round_to_lanes(count); }
  /// Keys that query i of the block may see.
  std::int64_t length(std::int64_t i) const {
    return causal && position + i + 1 < keys ? position + i + 1 : keys;
  }
  /// Keys that the last one may see.
  std::int64_t seen() const { return length(count - 1); }
};

DRAGOMAN_INLINE QueryBlock query_block(const PackedAttentionArguments& a, std::int64_t b,
                                       std::int64_t first) {
  const std::int64_t left = a.query_starts[b + 1] - first;
  return {first, left < kQueries ? left : kQueries, first - a.query_starts[b],
          a.key_starts[b + 1] - a.key_starts[b], a.causal};
}

/// The queries [at, at + kLanes) of a block, one in each lane.
struct LaneQueries {
  I32 lengths;             ///< keys that each may see
  std::int64_t all, some;  ///< keys that all of them see, that one of them sees

  LaneQueries(const QueryBlock& block, std::int64_t at) : all(block.length(at)) {
    const std::int64_t last = at + kLanes < block.count ? at + kLanes : block.count;
    some = block.length(last - 1);
    lengths = (std::int32_t)all + (block.causal ? lane_numbers() : I32{});
  }
  /// x in the lanes whose query sees key s, fill in the others.
  F32 seen(F32 x, std::int64_t s, float fill) const {
    if (s < all) return x;
    return lengths > (std::int32_t)s ? x : splat(fill);
  }
};

/// The factors (0 or scale) by which dropout multiplies the weights of queries [at, at + kLanes) of
/// a block; one hash of each lane decides four keys.
struct LaneFactors {
  U32 row_keys = {}, bits = {};
  std::uint32_t threshold;
  float scale;
  bool drops;

  LaneFactors(const DropoutRule& dropout, const QueryBlock& block, std::int64_t at,
              std::int64_t head)
      : threshold(dropout.threshold), scale(dropout.scale()), drops(dropout.row_keys != nullptr) {
    if (!drops) return;
    for (int lane = 0; lane < kLanes; ++lane)
      if (at + lane < block.count)
        row_keys[lane] = (std::uint32_t)dropout.row_keys[block.first + at + lane];
    row_keys = head_key(row_keys, dropout, head);
  }
  /// The factor of key s. Ask for keys in ascending order, from 0 on.
  F32 of(std::int64_t s) {
    if (!drops) return splat(1);
    if (s % 4 == 0) bits = hash_of(row_keys + (std::uint32_t)(s / 4) * dropout_hash::kOfColumns);
    const U32 byte = bits & 0xFF;
    bits = bits >> 8;
    return byte < threshold ? splat(0) : splat(scale);
  }
};

/// Rows at `stride`, as rows and as columns: [rows, d_k] -> fp32 [rows, width], [width, columns].
template <class T>
DRAGOMAN_INLINE void load_columns(const T* rows, std::int64_t stride, const QueryBlock& block,
                                  std::int64_t d_k, std::int64_t width, float* as_rows,
                                  float* as_columns) {
  load_rows(rows, stride, block.count, d_k, width, as_rows);
  transpose(as_rows, block.count, width, block.columns(), as_columns);
}

template <class E>
void packed_attention(const PackedAttentionArguments& a, std::int64_t begin, std::int64_t end) {
  typedef typename E::Type T;
  const std::int64_t width = round_to_lanes(a.d_k), most = a.longest_keys;
  const std::int64_t output_stride = a.heads * a.d_k;
  const std::int64_t floats = 2 * most * width + kQueries * (most + 3 * width);
  const BeyondFrame beyond(floats);
  float* keys = beyond.floats ? beyond.floats : DRAGOMAN_FRAME_FLOATS(floats);
  float* values = keys + most * width;                // as keys [most, width]
  float* weights = values + most * width;             // [most, kQueries]
  float* queries = weights + kQueries * most;         // [kQueries, width]
  float* query_columns = queries + kQueries * width;  // [width, kQueries]
  float* context = query_columns + kQueries * width;  // [kQueries, width]
  for (std::int64_t task = begin; task < end; ++task) {
    const std::int64_t b = task / a.heads, h = task % a.heads;
    const std::int64_t first_key = a.key_starts[b], S = a.key_starts[b + 1] - first_key;
    const std::int64_t at_keys = first_key * a.key_stride + h * a.d_k;
    load_rows((const T*)a.k + at_keys, a.key_stride, S, a.d_k, width, keys);
    load_rows((const T*)a.v + at_keys, a.key_stride, S, a.d_k, width, values);
    for (std::int64_t first = a.query_starts[b]; first < a.query_starts[b + 1]; first += kQueries) {
      const QueryBlock block = query_block(a, b, first);
      const std::int64_t columns = block.columns(), seen = block.seen();
      load_columns((const T*)a.q + first * a.query_stride + h * a.d_k, a.query_stride, block, a.d_k,
                   width, queries, query_columns);
      multiply({keys, width, 1}, query_columns, columns, seen, a.d_k, columns, weights, columns,
               false);
      for (std::int64_t at = 0; at < columns; at += kLanes) {
        const LaneQueries lanes(block, at);
        LaneFactors factors(a.dropout, block, at, h);
        float* column = weights + at;
        F32 top = splat(-__builtin_inff()), sum = splat(0);
        for (std::int64_t s = 0; s < lanes.some; ++s)
          top = maximum(lanes.seen(load(column + s * columns), s, -__builtin_inff()), top);
        for (std::int64_t s = 0; s < lanes.some; ++s) {
          const F32 x = lanes.seen(load(column + s * columns) - top, s, 0) * a.scale;
          const F32 e = lanes.seen(exp_of_negative(x), s, 0);
          store(column + s * columns, e);
          sum = sum + e;
        }
        const F32 inverse = 1.0F / sum;
        for (std::int64_t s = 0; s < lanes.some; ++s)
          store(column + s * columns, load(column + s * columns) * factors.of(s) * inverse);
        for (std::int64_t s = lanes.some; s < seen; ++s) store(column + s * columns, splat(0));
        for (std::int64_t i = at; i < at + kLanes && i < block.count; ++i)
          a.log_sums[(first + i) * a.heads + h] =
              __builtin_logf(sum[i - at]) + top[i - at] * a.scale;
      }
      multiply({weights, 1, columns}, values, width, block.count, seen, width, context, width,
               false);
      store_rows(context, width, block.count, a.d_k,
                 (T*)a.output + first * output_stride + h * a.d_k, output_stride);
    }
  }
}

/// Down the columns of a block: scores become the weights after dropout, and the gradients of
/// these weights (d_scores) those of the scores.
DRAGOMAN_INLINE void scores_gradient(const PackedAttentionArguments& a, const QueryBlock& block,
                                     std::int64_t head, float* weights, float* d_scores) {
  const std::int64_t columns = block.columns(), seen = block.seen();
  for (std::int64_t at = 0; at < columns; at += kLanes) {
    const LaneQueries lanes(block, at);
    LaneFactors factors(a.dropout, block, at, head), again = factors;
    float *column = weights + at, *d_column = d_scores + at;
    F32 log_sums = splat(0), dots = splat(0);
    for (std::int64_t i = at; i < at + kLanes && i < block.count; ++i)
      log_sums[i - at] = a.log_sums[(block.first + i) * a.heads + head];
    for (std::int64_t s = 0; s < lanes.some; ++s) {
      const F32 scores = lanes.seen(load(column + s * columns) * a.scale - log_sums, s, -87.0F);
      const F32 p = lanes.seen(exp_of_negative(scores), s, 0);
      const F32 dp = load(d_column + s * columns) * factors.of(s);
      dots = dots + p * dp;
      store(column + s * columns, p);
      store(d_column + s * columns, dp);
    }
    for (std::int64_t s = 0; s < lanes.some; ++s) {
      const F32 p = load(column + s * columns);
      store(d_column + s * columns, p * (load(d_column + s * columns) - dots) * a.scale);
      store(column + s * columns, p * again.of(s));  // now after dropout
    }
    for (std::int64_t s = lanes.some; s < seen; ++s) {
      store(column + s * columns, splat(0));
      store(d_column + s * columns, splat(0));
    }
  }
}

template <class E>
void packed_attention_gradient(const PackedAttentionGradientArguments& g, std::int64_t begin,
                               std::int64_t end) {
  typedef typename E::Type T;
  const PackedAttentionArguments& a = g.forward;
  const std::int64_t width = round_to_lanes(a.d_k), most = a.longest_keys;
  const std::int64_t output_stride = a.heads * a.d_k, area = most * width, part = kQueries * width;
  const std::int64_t floats = 4 * area + 2 * kQueries * most + 5 * part;
  const BeyondFrame beyond(floats);
  float* keys = beyond.floats ? beyond.floats : DRAGOMAN_FRAME_FLOATS(floats);
  float *values = keys + area, *dk = values + area, *dv = dk + area;  // as keys [most, width]
  float *weights = dv + area, *d_scores = weights + kQueries * most;  // [most, kQueries]
  float* queries = d_scores + kQueries * most;                        // [kQueries, width]
  float* query_columns = queries + part;                              // [width, kQueries]
  float* d_output = query_columns + part;                             // [kQueries, width]
  float* d_output_columns = d_output + part;                          // [width, kQueries]
  float* dq = d_output_columns + part;                                // [kQueries, width]
  for (std::int64_t task = begin; task < end; ++task) {
    const std::int64_t b = task / a.heads, h = task % a.heads;
    const std::int64_t first_key = a.key_starts[b], S = a.key_starts[b + 1] - first_key;
    const std::int64_t at_keys = first_key * a.key_stride + h * a.d_k;
    load_rows((const T*)a.k + at_keys, a.key_stride, S, a.d_k, width, keys);
    load_rows((const T*)a.v + at_keys, a.key_stride, S, a.d_k, width, values);
    for (std::int64_t i = 0; i < S * width; i += kLanes) {
      store(dk + i, splat(0));
      store(dv + i, splat(0));
    }
    for (std::int64_t first = a.query_starts[b]; first < a.query_starts[b + 1]; first += kQueries) {
      const QueryBlock block = query_block(a, b, first);
      const std::int64_t at_queries = first * a.query_stride + h * a.d_k;
      const std::int64_t columns = block.columns(), seen = block.seen();
      load_columns((const T*)a.q + at_queries, a.query_stride, block, a.d_k, width, queries,
                   query_columns);
      load_columns((const T*)g.d_output + first * output_stride + h * a.d_k, output_stride, block,
                   a.d_k, width, d_output, d_output_columns);
      multiply({keys, width, 1}, query_columns, columns, seen, a.d_k, columns, weights, columns,
               false);
      multiply({values, width, 1}, d_output_columns, columns, seen, a.d_k, columns, d_scores,
               columns, false);
      scores_gradient(a, block, h, weights, d_scores);
      multiply({d_scores, 1, columns}, keys, width, block.count, seen, width, dq, width, false);
      multiply({d_scores, columns, 1}, queries, width, seen, block.count, width, dk, width, true);
      multiply({weights, columns, 1}, d_output, width, seen, block.count, width, dv, width, true);
      store_rows(dq, width, block.count, a.d_k, (T*)g.dq + at_queries, a.query_stride);
    }
    store_rows(dk, width, S, a.d_k, (T*)g.dk + at_keys, a.key_stride);
    store_rows(dv, width, S, a.d_k, (T*)g.dv + at_keys, a.key_stride);
  }
}

DRAGOMAN_END_KERNELS
