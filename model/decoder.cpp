#include "model/decoder.h"

#include "model/dropout_sites.h"

namespace dragoman {

torch::Tensor PackedDecoderAttention::self(std::int64_t, MultiHeadAttention& module,
                                           const SelfAttentionInput& x) {
  return module->self(x, target_, AttentionMask::Causal);
}

torch::Tensor PackedDecoderAttention::cross(std::int64_t, MultiHeadAttention& module,
                                            const torch::Tensor& x) {
  return module->cross(x, memory_, target_, source_);
}

DecoderLayerImpl::DecoderLayerImpl(const ModelConfig& config, std::int64_t layer)
    : layer(layer),
      self_attention(config, dropout_site(DecoderDropout::SelfAttentionWeights, layer)),
      self_attention_norm(layer_norm(config)),
      cross_attention(config, dropout_site(DecoderDropout::CrossAttentionWeights, layer)),
      cross_attention_norm(layer_norm(config)),
      feed_forward(config, dropout_site(DecoderDropout::InnerLayer, layer)),
      feed_forward_norm(layer_norm(config)),
      norm_position(config.norm),
      self_attention_dropout{config.dropout, dropout_site(DecoderDropout::SelfAttention, layer)},
      cross_attention_dropout{config.dropout, dropout_site(DecoderDropout::CrossAttention, layer)},
      feed_forward_dropout{config.dropout, dropout_site(DecoderDropout::FeedForward, layer)} {
  register_module("self_attention", self_attention);
  register_module("self_attention_norm", self_attention_norm);
  register_module("cross_attention", cross_attention);
  register_module("cross_attention_norm", cross_attention_norm);
  register_module("feed_forward", feed_forward);
  register_module("feed_forward_norm", feed_forward_norm);
}

ResidualStream DecoderLayerImpl::forward(const ResidualStream& x, DecoderAttention& attention,
                                         const torch::Tensor& row_keys) {
  const auto target =
      self_attention_connection(x, self_attention_norm, norm_position, self_attention_dropout,
                                row_keys, [&](const SelfAttentionInput& input) {
                                  return attention.self(layer, self_attention, input);
                                });
  const auto attended = residual_connection(
      target, cross_attention_norm, norm_position, cross_attention_dropout, row_keys,
      [&](const torch::Tensor& input) { return attention.cross(layer, cross_attention, input); });
  return residual_connection(
      attended, feed_forward_norm, norm_position, feed_forward_dropout, row_keys,
      [&](const torch::Tensor& input) { return feed_forward(input, row_keys); });
}

DecoderImpl::DecoderImpl(const ModelConfig& config) {
  if (config.embedding_norm) embedding_norm = register_module("embedding_norm", layer_norm(config));
  for (std::int64_t i = 0; i < config.decoder_layers; ++i)
    layers->push_back(DecoderLayer(config, i));
  register_module("layers", layers);
  if (is_before(config.norm)) norm = register_module("norm", layer_norm(config));
}

torch::Tensor DecoderImpl::forward(torch::Tensor x, DecoderAttention& attention,
                                   const torch::Tensor& row_keys) {
  ResidualStream stream{normalized_if_asked(embedding_norm, x), {}, {}};
  for (const auto& layer : *layers)
    stream = layer->as<DecoderLayerImpl>()->forward(stream, attention, row_keys);
  return norm ? stream.normalize(norm, row_keys).normalized : stream.value(row_keys);
}

}  // namespace dragoman
