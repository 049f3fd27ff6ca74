// The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), figure 1, on packed
// batches. Letters: B sentences, N tokens of a side, M tokens of the source where N are the
// target's, D d_model, V vocabulary.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <span>

#include "model/decoder.h"
#include "model/embedding.h"
#include "model/encoder.h"
#include "model/positional_encoding.h"

namespace dragoman {

/// One side of a packed batch, source or target, on the model's device.
struct PackedTokens {
  torch::Tensor tokens;  ///< [N] int64, -1 in filler rows
  PackedLayout layout;
};

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
  torch::Tensor weight, bias;  ///< [V, D], [V]; undefined where there is none
};
TORCH_MODULE(Output);

/// Calls that compute no gradients may run on several threads at once. Backward passes add to the
/// parameters' gradients, so each thread needs a module tree of its own.
struct TransformerImpl : torch::nn::Module {
  explicit TransformerImpl(const ModelConfig& config);

  /// The encoder (section 3.1, left half of figure 1): -> memory [N, D]. Dropout is on where
  /// PackedLayout::set_row_keys() has been called; so too in decode().
  torch::Tensor encode(const PackedTokens& source);

  /// Right half of figure 1 for whole targets: hidden states [N, D], whose projection predicts
  /// target.tokens. Each token is predicted from those before it. The decoder starts from the zero
  /// vector.
  torch::Tensor decode(const PackedTokens& target, const torch::Tensor& memory,
                       const PackedLayout& source);

  /// The same for whole targets, with attention that the caller chooses (guided alignment).
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

/// Copies one side of a batch to the device. `tokens` are those of the sentences at `starts` [B+1].
/// Filler rows, up to a multiple of `row_multiple`, get token -1. `row_multiple` and
/// `least_longest` are those of PackedLayout::from_starts().
PackedTokens packed_tokens(std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> starts, std::int64_t heads,
                           torch::Device device, std::int64_t row_multiple = 1,
                           std::int64_t least_longest = 0);

}  // namespace dragoman
