#include "model/encoder.h"

#include "model/dropout_sites.h"

namespace dragoman {

EncoderLayerImpl::EncoderLayerImpl(const ModelConfig& config, std::int64_t layer)
    : self_attention(config, dropout_site(EncoderDropout::AttentionWeights, layer)),
      self_attention_norm(layer_norm(config)),
      feed_forward(config, dropout_site(EncoderDropout::InnerLayer, layer)),
      feed_forward_norm(layer_norm(config)),
      norm_position(config.norm),
      self_attention_dropout{config.dropout, dropout_site(EncoderDropout::SelfAttention, layer)},
      feed_forward_dropout{config.dropout, dropout_site(EncoderDropout::FeedForward, layer)} {
  register_module("self_attention", self_attention);
  register_module("self_attention_norm", self_attention_norm);
  register_module("feed_forward", feed_forward);
  register_module("feed_forward_norm", feed_forward_norm);
}

ResidualStream EncoderLayerImpl::forward(const ResidualStream& x, const PackedLayout& layout) {
  const auto attended = self_attention_connection(
      x, self_attention_norm, norm_position, self_attention_dropout, layout.row_keys,
      [&](const SelfAttentionInput& input) {
        return self_attention->self(input, layout, AttentionMask::Sentence);
      });
  return residual_connection(
      attended, feed_forward_norm, norm_position, feed_forward_dropout, layout.row_keys,
      [&](const torch::Tensor& input) { return feed_forward(input, layout.row_keys); });
}

EncoderImpl::EncoderImpl(const ModelConfig& config) {
  if (config.embedding_norm) embedding_norm = register_module("embedding_norm", layer_norm(config));
  for (std::int64_t i = 0; i < config.encoder_layers; ++i)
    layers->push_back(EncoderLayer(config, i));
  register_module("layers", layers);
  if (is_before(config.norm)) norm = register_module("norm", layer_norm(config));
}

torch::Tensor EncoderImpl::forward(torch::Tensor x, const PackedLayout& layout) {
  ResidualStream stream{normalized_if_asked(embedding_norm, x), {}, {}};
  for (const auto& layer : *layers) stream = layer->as<EncoderLayerImpl>()->forward(stream, layout);
  return norm ? stream.normalize(norm, layout.row_keys).normalized : stream.value(layout.row_keys);
}

}  // namespace dragoman
