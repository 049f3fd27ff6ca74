// The encoder, section 3.1: a stack of identical layers, each self-attention and a feed-forward
// network.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/pimpl.h>

#include "model/attention.h"
#include "model/feed_forward.h"
#include "model/sublayer.h"

namespace dragoman {

struct EncoderLayerImpl : torch::nn::Module {
  EncoderLayerImpl(const ModelConfig& config, std::int64_t layer);

  /// The stream before the layer to the stream behind it, [N, D] each.
  ResidualStream forward(const ResidualStream& x, const PackedLayout& layout);

  MultiHeadAttention self_attention;
  torch::nn::LayerNorm self_attention_norm;
  FeedForward feed_forward;
  torch::nn::LayerNorm feed_forward_norm;
  NormPosition norm_position;
  Dropout self_attention_dropout, feed_forward_dropout;
};
TORCH_MODULE(EncoderLayer);

struct EncoderImpl : torch::nn::Module {
  explicit EncoderImpl(const ModelConfig& config);

  /// Embedded source tokens x [N, D] to the memory, [N, D].
  torch::Tensor forward(torch::Tensor x, const PackedLayout& layout);

  torch::nn::LayerNorm embedding_norm{nullptr};  ///< before the first layer, with embedding_norm
  torch::nn::ModuleList layers;
  torch::nn::LayerNorm norm{nullptr};  ///< after the last layer, unless norm = after
};
TORCH_MODULE(Encoder);

}  // namespace dragoman
