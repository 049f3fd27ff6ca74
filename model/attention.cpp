#include "model/attention.h"

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

torch::Tensor MultiHeadAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                              const PackedLayout& queries, const PackedLayout& keys,
                                              AttentionMask mask) {
  return output(packed_attention(query(x), key(memory), value(memory), queries, keys, mask,
                                 dropout));  // [N, D]
}

}  // namespace dragoman
