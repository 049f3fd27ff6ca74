// The decoder, section 3.1: each layer attends to the target so far, then to the encoder's output
// ("memory"), then applies a feed-forward network.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/pimpl.h>

#include "model/attention.h"
#include "model/feed_forward.h"
#include "model/sublayer.h"

namespace dragoman {

/// Gives the layers' attentions their keys and values: from a whole packed target
/// (PackedDecoderAttention), or from a cache that grows by a token a step (inference/torch).
class DecoderAttention {
 public:
  virtual ~DecoderAttention() = default;
  /// Both map x [N, D] to [N, D] through the given layer's attention module.
  virtual torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                             const SelfAttentionInput& x) = 0;
  virtual torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                              const torch::Tensor& x) = 0;
};

/// Whole targets at once, with the causal mask of section 3.2.3. The arguments must outlive it.
class PackedDecoderAttention : public DecoderAttention {
 public:
  PackedDecoderAttention(const torch::Tensor& memory, const PackedLayout& source,
                         const PackedLayout& target)
      : memory_(memory), source_(source), target_(target) {}
  torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                     const SelfAttentionInput& x) override;
  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override;

 protected:
  const torch::Tensor& memory() const { return memory_; }
  const PackedLayout& source() const { return source_; }
  const PackedLayout& target() const { return target_; }

 private:
  const torch::Tensor& memory_;  // [M, D]
  const PackedLayout& source_;
  const PackedLayout& target_;
};

struct DecoderLayerImpl : torch::nn::Module {
  DecoderLayerImpl(const ModelConfig& config, std::int64_t layer);

  /// The stream before the layer to the stream behind it, [N, D] each. row_keys [N] as in Dropout.
  ResidualStream forward(const ResidualStream& x, DecoderAttention& attention,
                         const torch::Tensor& row_keys);

  std::int64_t layer;
  MultiHeadAttention self_attention;
  torch::nn::LayerNorm self_attention_norm;
  MultiHeadAttention cross_attention;
  torch::nn::LayerNorm cross_attention_norm;
  FeedForward feed_forward;
  torch::nn::LayerNorm feed_forward_norm;
  NormPosition norm_position;
  Dropout self_attention_dropout, cross_attention_dropout, feed_forward_dropout;
};
TORCH_MODULE(DecoderLayer);

struct DecoderImpl : torch::nn::Module {
  explicit DecoderImpl(const ModelConfig& config);

  /// Embedded target tokens x [N, D] to the hidden states of their next tokens, [N, D].
  torch::Tensor forward(torch::Tensor x, DecoderAttention& attention,
                        const torch::Tensor& row_keys);

  torch::nn::LayerNorm embedding_norm{nullptr};  ///< before the first layer, with embedding_norm
  torch::nn::ModuleList layers;
  torch::nn::LayerNorm norm{nullptr};  ///< after the last layer, unless norm = after
};
TORCH_MODULE(Decoder);

}  // namespace dragoman
