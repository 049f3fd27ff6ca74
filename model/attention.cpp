#include "model/attention.h"

#include <cmath>

namespace dragoman {

torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v, const PackedLayout& queries,
                                           const PackedLayout& keys, AttentionMask mask,
                                           const Dropout& dropout) {
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(-1)));
  const auto scores = torch::bmm(q, k.transpose(1, 2));  // [B*H, T, S]
  return torch::bmm(attention_weights(scores, queries, keys, mask, scale, dropout), v);
}

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const ModelConfig& config, std::uint32_t site)
    : query(config.d_model, config.d_model),
      key(config.d_model, config.d_model),
      value(config.d_model, config.d_model),
      output(config.d_model, config.d_model),
      heads(config.heads),
      dropout{config.attention_dropout, site} {
  register_module("query", query);
  register_module("key", key);
  register_module("value", value);
  register_module("output", output);
}

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                              const PackedLayout& queries, const PackedLayout& keys,
                                              AttentionMask mask) {
  const auto q = pad_heads(query(x), queries);    // [N, D] -> [B*H, T, K]
  const auto k = pad_heads(key(memory), keys);    // [M, D] -> [B*H, S, K]
  const auto v = pad_heads(value(memory), keys);  // [M, D] -> [B*H, S, K]
  const auto context = scaled_dot_product_attention(q, k, v, queries, keys, mask, dropout);
  return output(unpad_heads(context, queries));  // [B*H, T, K] -> [N, D]
}

}  // namespace dragoman
