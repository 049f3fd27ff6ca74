// The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), figure 1, on packed
// batches: the stacks of section 3.1, and the whole model. Letters: B sentences, N tokens of a
// side, M tokens of the source if N are the target's, D d_model, V vocabulary.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/embedding.h"
#include "model/file/model_file.h"
#include "model/sublayers.h"

namespace dragoman {

// The encoder: a stack of identical layers, each self-attention and a feed-forward network.

struct EncoderLayerImpl : torch::nn::Module {
  EncoderLayerImpl(const ModelConfig& config, std::int64_t layer);

  /// The stream before the layer -> the stream after it, [N, D] each.
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

  /// Embedded source tokens x [N, D] -> the memory, [N, D].
  torch::Tensor forward(torch::Tensor x, const PackedLayout& layout);

  torch::nn::LayerNorm embedding_norm{nullptr};  ///< before the first layer, with embedding_norm
  torch::nn::ModuleList layers;
  torch::nn::LayerNorm norm{nullptr};  ///< after the last layer, unless norm = after
};
TORCH_MODULE(Encoder);

// The decoder: each layer attends to the target so far, then to the encoder's output ("memory"),
// then applies a feed-forward network.

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

struct DecoderImpl;

/// Whole targets at once, with the causal mask of section 3.2.3. The arguments must outlive it.
class PackedDecoderAttention : public DecoderAttention {
 public:
  PackedDecoderAttention(const torch::Tensor& memory, const PackedLayout& source,
                         const PackedLayout& target)
      : memory_(memory), source_(source), target_(target) {}
  /// Computes the keys and values of all layers by one product, for a device without our kernels
  /// for the CPU. cross() uses them.
  void project_memory(const DecoderImpl& decoder);
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
  std::vector<ProjectedMemory> projected_;  // by layer; empty: each layer projects its own
};

struct DecoderLayerImpl : torch::nn::Module {
  DecoderLayerImpl(const ModelConfig& config, std::int64_t layer);

  /// The stream before the layer -> the stream after it, [N, D] each. row_keys [N] as in Dropout.
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

  /// Embedded target tokens x [N, D] -> the hidden states of their next tokens, [N, D].
  torch::Tensor forward(torch::Tensor x, DecoderAttention& attention,
                        const torch::Tensor& row_keys);

  torch::nn::LayerNorm embedding_norm{nullptr};  ///< before the first layer, with embedding_norm
  torch::nn::ModuleList layers;
  torch::nn::LayerNorm norm{nullptr};  ///< after the last layer, unless norm = after
};
TORCH_MODULE(Decoder);

// The whole model.

/// One side of a packed batch, source or target, on the model's device.
struct PackedTokens {
  torch::Tensor tokens;  ///< [N] int64, -1 in filler rows
  PackedLayout layout;
};

/// Copies one side of a batch to the device. `tokens` are those of the sentences at `starts` [B+1].
/// Filler rows, up to a multiple of `row_multiple`, get token -1. `row_multiple` and
/// `least_longest` are those of PackedLayout::from_starts().
PackedTokens packed_tokens(std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> starts, std::int64_t heads,
                           torch::Device device, std::int64_t row_multiple = 1,
                           std::int64_t least_longest = 0);

/// The decoder's inputs: targets that have been shifted right, or the last token of each
/// hypothesis.
struct DecoderInputs {
  torch::Tensor tokens;     ///< [N] int64; -1: the zero vector
  torch::Tensor positions;  ///< [N] int64
  std::int64_t length;      ///< above every position
  torch::Tensor row_keys;   ///< [N] as in Dropout; undefined = no dropout
};

/// The output projection's own parameters: a weight with tying = none, a bias with output-bias.
struct OutputImpl : torch::nn::Module {
  explicit OutputImpl(const ModelConfig& config);
  torch::Tensor weight, bias;  ///< [V, D], [V]; undefined if the projection has no own one
};
TORCH_MODULE(Output);

/// Calls that compute no gradients may run on several threads at once. Backward passes add to the
/// parameters' gradients, so each thread needs a module tree of its own.
struct TransformerImpl : torch::nn::Module {
  explicit TransformerImpl(const ModelConfig& config);

  /// The left half of figure 1: -> memory [N, D]. Here and in decode(), dropout is on if
  /// PackedLayout::set_row_keys() has been called.
  torch::Tensor encode(const PackedTokens& source);

  /// The right half of figure 1 for whole targets: hidden states [N, D], whose projection predicts
  /// target.tokens. Each token is predicted from those before it. The decoder starts from the zero
  /// vector.
  torch::Tensor decode(const PackedTokens& target, const torch::Tensor& memory,
                       const PackedLayout& source);

  /// The same with attention that the caller chooses (guided alignment).
  torch::Tensor decode(const PackedTokens& target, DecoderAttention& attention);

  /// The decoder on its inputs -> hidden states [N, D]. decode() calls it, and a step of
  /// inference/torch.
  torch::Tensor decoder_states(const DecoderInputs& inputs, DecoderAttention& attention);

  /// hidden [N, D] -> [N, V].
  torch::Tensor logits(const torch::Tensor& hidden);
  torch::Tensor output_weight() const;  ///< [V, D]
  torch::Tensor output_bias() const;    ///< [V] or undefined

  /// Xavier uniform for linear layers (Glorot and Bengio 2010), N(0, 1/D) for embeddings, learned
  /// positions and an untied output projection, 1 and 0 for norms, zero biases: a function of the
  /// seed and the configuration alone.
  void initialize(std::uint64_t seed);

  ModelConfig config;
  Embedding embedding;
  PositionalEncoding positional_encoding;
  Encoder encoder;
  Decoder decoder;
  Output output;
  Dropout source_dropout, target_dropout;
};
TORCH_MODULE(Transformer);

/// The module tree with the weights of a model file, in fp32 on `device`, for use without
/// gradients. Throws Error naming the file if a weight is missing, or has another shape than the
/// file's configuration asks for.
Transformer load_transformer(const ModelFileReader& file, torch::Device device,
                             torch::ScalarType type = torch::kFloat32);

}  // namespace dragoman
