// Each kernel's formula in plain loops and double precision. Tests compare the kernels with it, and
// a reader finds here what they compute. Matrices are [rows, columns], row after row. The argument
// structs of kernels.h and inference_kernels.h say what each number is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/kernels.h"

namespace dragoman::reference {

typedef std::vector<double> Numbers;

inline Numbers zeros(std::size_t count) { return Numbers(count, 0); }

inline double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

inline std::span<const double> row_of(const Numbers& matrix, std::int64_t row,
                                      std::int64_t columns) {
  return {matrix.data() + row * columns, static_cast<std::size_t>(columns)};
}

// ---- dropout and activations ----

/// 0 for a dropped element, DropoutRule::scale() for a kept one; 1 without dropout.
inline double dropout_factor(const DropoutRule& rule, std::int64_t row, std::int64_t column) {
  if (rule.row_keys == nullptr) return 1;
  const std::int64_t t = row % rule.queries, h = row / rule.queries % rule.heads;
  const std::int64_t b = row / rule.queries / rule.heads;
  const auto token_key = static_cast<std::uint32_t>(rule.row_keys[b * rule.queries + t]);
  const std::uint32_t key = hash32(token_key ^ rule.site * dropout_hash::kOfSite) +
                            static_cast<std::uint32_t>(h) * dropout_hash::kOfHead;
  const std::uint32_t bits =
      hash32(key + static_cast<std::uint32_t>(column / 4) * dropout_hash::kOfColumns);
  const std::uint32_t byte = bits >> 8 * (column % 4) & 0xFF;
  return byte < rule.threshold ? 0 : 256.0 / (256 - rule.threshold);
}

/// dropout(x) [rows, columns].
inline Numbers dropout(Numbers x, std::int64_t columns, const DropoutRule& rule) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] *= dropout_factor(rule, static_cast<std::int64_t>(i) / columns,
                           static_cast<std::int64_t>(i) % columns);
  return x;
}

inline Numbers relu(Numbers x) {
  for (double& value : x) value = std::max(value, 0.0);
  return x;
}

/// Hendrycks and Gimpel 2016.
inline double gelu(double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }
/// Ramachandran et al. 2017, with beta = 1.
inline double swish(double x) { return x / (1 + std::exp(-x)); }

// ---- softmax and losses ----

inline Numbers log_softmax(std::span<const double> logits) {
  const double top = *std::ranges::max_element(logits);
  double total = 0;
  for (const double x : logits) total += std::exp(x - top);
  Numbers result;
  for (const double x : logits) result.push_back(x - top - std::log(total));
  return result;
}

inline Numbers softmax(std::span<const double> logits) {
  Numbers result = log_softmax(logits);
  for (double& x : result) x = std::exp(x);
  return result;
}

/// The smoothed distribution of a target: (1 - smoothing) on it plus smoothing / columns
/// everywhere.
inline double smoothed(std::size_t column, std::int64_t target, std::size_t columns,
                       double smoothing) {
  return smoothing / static_cast<double>(columns) +
         (static_cast<std::int64_t>(column) == target ? 1 - smoothing : 0);
}

/// Cross-entropy with label smoothing of a row.
inline double cross_entropy(std::span<const double> logits, std::int64_t target, double smoothing) {
  const Numbers l = log_softmax(logits);
  double sum = 0;
  for (std::size_t c = 0; c < l.size(); ++c) sum -= smoothed(c, target, l.size(), smoothing) * l[c];
  return sum;
}

inline Numbers cross_entropy_gradient(std::span<const double> logits, std::int64_t target,
                                      double smoothing) {
  Numbers gradient = softmax(logits);
  for (std::size_t c = 0; c < gradient.size(); ++c)
    gradient[c] -= smoothed(c, target, gradient.size(), smoothing);
  return gradient;
}

/// What ProjectedLossArguments leaves of a row instead of its logits [columns].
struct ProjectedLoss {
  double total;  ///< exp(negative log-likelihood)
  Numbers y;     ///< y / total - smoothing / columns is the gradient
};

inline ProjectedLoss projected_loss(std::span<const double> logits, std::int64_t target,
                                    double smoothing) {
  ProjectedLoss result{0, {}};
  for (const double x : logits) {
    result.y.push_back(std::exp(x - logits[target]));
    result.total += result.y.back();
  }
  result.y[target] -= (1 - smoothing) * result.total;
  return result;
}

// ---- attention ----

/// softmax(scale * scores) of rows [rows, keys] over each row's first visible[row] keys, 0 for the
/// others.
inline Numbers attention_weights(const Numbers& scores, std::span<const std::int64_t> visible,
                                 std::int64_t keys, double scale) {
  Numbers weights = zeros(scores.size());
  for (std::size_t row = 0; row < visible.size(); ++row) {
    const auto at = static_cast<std::int64_t>(row) * keys;
    Numbers scaled(scores.begin() + at, scores.begin() + at + visible[row]);
    for (double& score : scaled) score *= scale;
    std::ranges::copy(softmax(scaled), weights.begin() + at);
  }
  return weights;
}

/// d_scores [rows, keys], from the gradient after dropout.
inline Numbers attention_weights_gradient(const Numbers& weights, const Numbers& d_dropped,
                                          std::int64_t keys, double scale,
                                          const DropoutRule& rule) {
  Numbers d = dropout(d_dropped, keys, rule);
  for (std::int64_t row = 0; row * keys < static_cast<std::int64_t>(d.size()); ++row) {
    const double mean = dot(row_of(weights, row, keys), row_of(d, row, keys));
    for (std::int64_t s = row * keys; s < (row + 1) * keys; ++s)
      d[s] = weights[s] * (d[s] - mean) * scale;
  }
  return d;
}

/// Sentences of queries and keys side by side: tokens [starts[b], starts[b + 1]) of sentence b.
struct PackedShape {
  std::vector<std::int32_t> query_starts, key_starts;
  std::int64_t heads, d_k;
  bool causal = false;

  std::int64_t width() const { return heads * d_k; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(d_k)); }
};

/// q, d_output [queries, heads * d_k]; k, v [keys, heads * d_k].
struct PackedInputs {
  Numbers q, k, v, d_output;
};
struct PackedResults {
  Numbers output, dq, dk, dv;
};

struct Query {
  std::int64_t sentence, head, token;
};

/// Equation 1 and its derivatives for one query.
inline void add_query(const PackedShape& shape, const PackedInputs& in, const DropoutRule& rule,
                      const Query& query, PackedResults& out) {
  const auto [sentence, head, token] = query;
  const std::int64_t first = shape.key_starts[sentence], d_k = shape.d_k;
  std::int64_t length = shape.key_starts[sentence + 1] - first;
  if (shape.causal) length = std::min(length, token - shape.query_starts[sentence] + 1);
  const auto part = [&, at = head * d_k](const Numbers& x, std::int64_t row) {
    return row_of(x, row, shape.width()).subspan(at, d_k);
  };
  Numbers scores, d;
  for (std::int64_t s = 0; s < length; ++s)
    scores.push_back(dot(part(in.q, token), part(in.k, first + s)) * shape.scale());
  const Numbers p = softmax(scores);
  // One "sentence" of all tokens: row h * queries + n has this token's key.
  const std::int64_t row = head * shape.query_starts.back() + token;
  for (std::int64_t s = 0; s < length; ++s)
    d.push_back(dot(part(in.d_output, token), part(in.v, first + s)) *
                dropout_factor(rule, row, s));
  const double mean = dot(p, d);
  for (std::int64_t s = 0; s < length; ++s) {
    const double dropped = p[s] * dropout_factor(rule, row, s);
    const double d_score = p[s] * (d[s] - mean) * shape.scale();
    for (std::int64_t c = 0; c < d_k; ++c) {
      const std::int64_t i = token * shape.width() + head * d_k + c;
      const std::int64_t j = (first + s) * shape.width() + head * d_k + c;
      out.output[i] += dropped * in.v[j];
      out.dv[j] += dropped * in.d_output[i];
      out.dq[i] += d_score * in.k[j];
      out.dk[j] += d_score * in.q[i];
    }
  }
}

inline PackedResults packed_attention(const PackedShape& shape, const PackedInputs& in,
                                      const DropoutRule& rule) {
  PackedResults out{zeros(in.q.size()), zeros(in.q.size()), zeros(in.k.size()), zeros(in.k.size())};
  for (std::size_t b = 0; b + 1 < shape.query_starts.size(); ++b)
    for (std::int64_t h = 0; h < shape.heads; ++h)
      for (std::int64_t n = shape.query_starts[b]; n < shape.query_starts[b + 1]; ++n)
        add_query(shape, in, rule, {static_cast<std::int64_t>(b), h, n}, out);
  return out;
}

// ---- layer normalisation ----

struct Statistics {
  double mean, inverse_deviation;
};

inline Statistics statistics(std::span<const double> row, double epsilon) {
  const auto columns = static_cast<double>(row.size());
  const double mean = std::accumulate(row.begin(), row.end(), 0.0) / columns;
  double variance = 0;
  for (const double x : row) variance += (x - mean) * (x - mean) / columns;
  return {mean, 1 / std::sqrt(variance + epsilon)};
}

inline Numbers normalized(std::span<const double> row, const Statistics& of) {
  Numbers result;
  for (const double x : row) result.push_back((x - of.mean) * of.inverse_deviation);
  return result;
}

/// The gradient with respect to a row of the sum.
inline Numbers norm_gradient(std::span<const double> dy, std::span<const double> gain,
                             std::span<const double> row, const Statistics& of) {
  const Numbers x = normalized(row, of);
  const auto columns = static_cast<double>(row.size());
  Numbers d;
  for (std::size_t c = 0; c < row.size(); ++c) d.push_back(dy[c] * gain[c]);
  const double total = std::accumulate(d.begin(), d.end(), 0.0) / columns;
  const double product = dot(d, x) / columns;
  for (std::size_t c = 0; c < row.size(); ++c)
    d[c] = (d[c] - total - x[c] * product) * of.inverse_deviation;
  return d;
}

// ---- products ----

/// x W^T [rows, outputs], of x [rows, inputs] and W [outputs, inputs].
inline Numbers product(const Numbers& x, const Numbers& weight, std::int64_t inputs) {
  Numbers y;
  for (std::int64_t row = 0; row * inputs < static_cast<std::int64_t>(x.size()); ++row)
    for (std::int64_t o = 0; o * inputs < static_cast<std::int64_t>(weight.size()); ++o)
      y.push_back(dot(row_of(x, row, inputs), row_of(weight, o, inputs)));
  return y;
}

/// dy^T x [outputs, inputs], of dy [rows, outputs] and x [rows, inputs].
inline Numbers weight_gradient(const Numbers& dy, const Numbers& x, std::int64_t outputs,
                               std::int64_t inputs) {
  Numbers sums = zeros(static_cast<std::size_t>(outputs * inputs));
  for (std::int64_t row = 0; row * outputs < static_cast<std::int64_t>(dy.size()); ++row)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t k = 0; k < inputs; ++k)
        sums[o * inputs + k] += dy[row * outputs + o] * x[row * inputs + k];
  return sums;
}

/// sums [columns] of x [rows, columns].
inline Numbers column_sums(const Numbers& x, std::int64_t columns) {
  Numbers sums = zeros(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % sums.size()] += x[i];
  return sums;
}

/// Numbers in [-127, 127] times a scale of the row.
struct QuantizedRow {
  std::vector<std::int64_t> whole;
  float scale;
};

/// Computed in fp32, as the numbers must be the same.
inline QuantizedRow quantize(std::span<const float> row) {
  float largest = 0;
  for (const float x : row) largest = std::max(largest, std::abs(x));
  QuantizedRow result{{}, largest / 127};
  for (const float x : row) result.whole.push_back(std::lrint(x * (127 / largest)));
  return result;
}

// ---- embeddings ----

/// y [tokens, columns] = scale * weight[token, :], zero for a token below zero.
inline Numbers embedding(const Numbers& weight, std::span<const std::int64_t> tokens,
                         std::int64_t columns, double scale) {
  Numbers y;
  for (const std::int64_t token : tokens)
    for (std::int64_t c = 0; c < columns; ++c)
      y.push_back(token < 0 ? 0 : scale * weight[token * columns + c]);
  return y;
}

/// [groups, columns]: scale * the sum of d_output[order[n], :] over n in [starts[g], starts[g +
/// 1]).
inline Numbers embedding_gradient(const Numbers& d_output, std::span<const std::int64_t> order,
                                  std::span<const std::int64_t> starts, std::int64_t columns,
                                  double scale) {
  Numbers gradient = zeros((starts.size() - 1) * columns);
  for (std::size_t g = 0; g + 1 < starts.size(); ++g)
    for (std::int64_t n = starts[g]; n < starts[g + 1]; ++n)
      for (std::int64_t c = 0; c < columns; ++c)
        gradient[g * columns + c] += scale * d_output[order[n] * columns + c];
  return gradient;
}

// ---- the choice of tokens ----

inline double exponential_sum(std::span<const float> values, double reference) {
  double sum = 0;
  for (const float value : values) sum += std::exp(value - reference);
  return sum;
}

/// The indices of the largest values, larger first; among equal ones the smaller index first.
inline std::vector<std::int32_t> best(std::span<const float> values, std::int64_t count) {
  std::vector<std::int32_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::ranges::stable_sort(indices, std::greater(), [&](std::int32_t i) { return values[i]; });
  indices.resize(static_cast<std::size_t>(count));
  return indices;
}

}  // namespace dragoman::reference
