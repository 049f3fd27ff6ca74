#include "extras/explanation/attention_weights.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace dragoman {

namespace {

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

void softmax(std::span<const double> scores, float* weights) {
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - most);
  for (std::size_t i = 0; i < scores.size(); ++i)
    weights[i] = static_cast<float>(std::exp(scores[i] - most) / sum);
}

}  // namespace

AttentionWeights attention_weights(const Activations::Attention& attention, std::int64_t heads,
                                   std::int64_t d_model, KeyMask mask) {
  const auto queries = static_cast<std::int64_t>(attention.query.size()) / d_model;
  const auto keys = static_cast<std::int64_t>(attention.key.size()) / d_model;
  const std::int64_t d_k = d_model / heads;
  AttentionWeights weights{
      .heads = heads, .queries = queries, .keys = keys, .mask = mask, .values = {}, .scores = {}};
  weights.values.resize(static_cast<std::size_t>(heads * queries * keys));
  std::vector<double> row;
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t q = 0; q < queries; ++q) {
      const float* query = attention.query.data() + q * d_model + h * d_k;
      const std::int64_t seen = mask == KeyMask::Causal ? q + 1 : keys;
      row.clear();
      for (std::int64_t k = 0; k < seen; ++k)
        row.push_back(dot(query, attention.key.data() + k * d_model + h * d_k, d_k) /
                      std::sqrt(static_cast<double>(d_k)));
      softmax(row, weights.values.data() + (h * queries + q) * keys);
      weights.scores.insert(weights.scores.end(), row.begin(), row.end());
    }
  return weights;
}

}  // namespace dragoman
