#include "model/attention.h"

#include "model/ops/linear.h"

namespace dragoman {

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

torch::Tensor MultiHeadAttentionImpl::self(const SelfAttentionInput& x, const PackedLayout& layout,
                                           AttentionMask mask) {
  if (!x.keys.is_same(x.queries)) return attend(x.queries, x.keys, {layout, layout, mask, dropout});
  const auto qkv = joined_linear(x.queries, {query->weight, key->weight, value->weight},
                                 {query->bias, key->bias, value->bias});  // [N, 3D]
  return linear(output, packed_self_attention(qkv, {layout, layout, mask, dropout}));
}

torch::Tensor MultiHeadAttentionImpl::cross(const torch::Tensor& x, const torch::Tensor& memory,
                                            const PackedLayout& queries, const PackedLayout& keys) {
  return attend(x, memory, {queries, keys, AttentionMask::Sentence, dropout});
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& x, const torch::Tensor& memory,
                                             const AttentionPattern& pattern) {
  const auto kv =
      joined_linear(memory, {key->weight, value->weight}, {key->bias, value->bias});  // [M, 2D]
  return linear(output, packed_cross_attention(linear(query, x), kv, pattern));
}

}  // namespace dragoman
