#include "model/sublayers.h"

#include "base/error.h"

namespace dragoman {

// Multi-head attention

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const ModelConfig& config, std::uint32_t site)
    : query(register_module("query", torch::nn::Linear(config.d_model, config.d_model))),
      key(register_module("key", torch::nn::Linear(config.d_model, config.d_model))),
      value(register_module("value", torch::nn::Linear(config.d_model, config.d_model))),
      output(register_module("output", torch::nn::Linear(config.d_model, config.d_model))),
      heads(config.heads),
      dropout{config.attention_dropout, site} {}

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

torch::Tensor MultiHeadAttentionImpl::cross(const torch::Tensor& x, const ProjectedMemory& memory,
                                            const PackedLayout& queries, const PackedLayout& keys) {
  return linear(output, packed_cross_attention(linear(query, x), memory.keys, memory.values,
                                               {queries, keys, AttentionMask::Sentence, dropout}));
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& x, const torch::Tensor& memory,
                                             const AttentionPattern& pattern) {
  const auto kv =
      joined_linear(memory, {key->weight, value->weight}, {key->bias, value->bias});  // [M, 2D]
  return linear(output, packed_cross_attention(linear(query, x), kv, pattern));
}

// The feed-forward network

namespace {

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::Relu:
      return x.relu();
    case Activation::Gelu:
    case Activation::GatedGelu:
      return torch::gelu(x);
    case Activation::Swish:
    case Activation::GatedSwish:
      return torch::silu(x);
  }
  throw Error("unknown activation");
}

}  // namespace

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config, std::uint32_t site)
    : inner(config.d_model, config.d_ff),
      outer(config.d_ff, config.d_model),
      activation(config.activation),
      dropout{config.activation_dropout, site} {
  register_module("inner", inner);
  if (is_gated(activation))
    gate = register_module("gate", torch::nn::Linear(config.d_model, config.d_ff));
  register_module("outer", outer);
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x, const torch::Tensor& row_keys) {
  if (activation == Activation::Relu) return relu_feed_forward(inner, outer, dropout, x, row_keys);
  const auto projected = linear(inner, x);
  const auto hidden =
      gate ? activate(linear(gate, x), activation) * projected : activate(projected, activation);
  return linear(outer, dropout.apply(hidden, row_keys));  // [N, F] -> [N, D]
}

// The connection around each sub-layer

namespace {

AddNorm add_norm(torch::nn::LayerNorm& norm, const Dropout& dropout) {
  return {norm->weight, norm->bias, norm->options.eps(), dropout};
}

}  // namespace

NormalizedSum ResidualStream::normalize(torch::nn::LayerNorm& norm,
                                        const torch::Tensor& row_keys) const {
  if (!output.defined()) return add_norm(norm, {}).apply(residual, {}, {});
  return add_norm(norm, dropout).apply(output, residual, row_keys);
}

torch::Tensor ResidualStream::value(const torch::Tensor& row_keys) const {
  return output.defined() ? dropout.add(output, residual, row_keys) : residual;
}

torch::nn::LayerNorm layer_norm(const ModelConfig& config) {
  return torch::nn::LayerNorm(
      torch::nn::LayerNormOptions({config.d_model}).eps(config.norm_epsilon));
}

torch::Tensor normalized_if_asked(torch::nn::LayerNorm& norm, const torch::Tensor& x) {
  return norm ? add_norm(norm, {}).apply(x, {}, {}).normalized : x;
}

}  // namespace dragoman
