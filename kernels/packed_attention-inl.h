// Attention of a packed batch, forward and backward. One task is one head of one sentence: its keys
// and values fit the first-level cache.
#pragma once

#include <cstdint>

#include "kernels/dropout-inl.h"
#include "kernels/kernels.h"
#include "kernels/matrices-inl.h"
#include "kernels/vectors-inl.h"

DRAGOMAN_BEGIN_KERNELS

/// Queries that are worked on together. Their scores, weights and gradients stand in columns,
/// [keys, queries]: what softmax needs of a query's keys is found down its column, a lane for each
/// query.
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
  /// x where the lane's query sees key s, fill elsewhere.
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
  /// Of key s; keys in ascending order, from 0 on.
  F32 of(std::int64_t s) {
    if (!drops) return splat(1);
    if (s % 4 == 0) bits = hash_of(row_keys + (std::uint32_t)(s / 4) * dropout_hash::kOfColumns);
    const U32 byte = bits & 0xFF;
    bits = bits >> 8;
    return byte < threshold ? splat(0) : splat(scale);
  }
};

/// Rows of `stride` behind each other in columns: [rows, d_k] -> fp32 [width, columns].
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
      for (std::int64_t at = 0; at < columns; at += kLanes) {
        const LaneQueries lanes(block, at);
        LaneFactors factors(a.dropout, block, at, h), again = factors;
        float *column = weights + at, *d_column = d_scores + at;
        F32 log_sums = splat(0), dots = splat(0);
        for (std::int64_t i = at; i < at + kLanes && i < block.count; ++i)
          log_sums[i - at] = a.log_sums[(first + i) * a.heads + h];
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
