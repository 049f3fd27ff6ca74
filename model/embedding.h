// What the model knows of a token before the first layer: its embedding (section 3.4) and its
// position (section 3.5).
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "base/mutex.h"
#include "model/file/model_config.h"

namespace dragoman {

/// A submodule with one weight, so that the matrix of a side has the name "source.weight".
struct MatrixImpl : torch::nn::Module {
  MatrixImpl(std::int64_t rows, std::int64_t columns);
  torch::Tensor weight;  ///< [rows, columns]
};
TORCH_MODULE(Matrix);

/// The embeddings of source and target, section 3.4, multiplied by sqrt(d_model): one matrix for
/// both sides and the output projection (the paper), or a matrix for each side. An untied output
/// projection is in transformer.h.
struct EmbeddingImpl : torch::nn::Module {
  explicit EmbeddingImpl(const ModelConfig& config);

  torch::Tensor source_weight() const;  ///< [Vs, D]
  torch::Tensor target_weight() const;  ///< [Vt, D]
  /// Token ids [N] -> [N, D]. -1 gives the zero vector, from which the decoder starts.
  torch::Tensor source(const torch::Tensor& tokens) const;
  torch::Tensor target(const torch::Tensor& tokens) const;
  double scale() const { return scale_; }  ///< sqrt(d_model)

 private:
  double scale_;
  torch::Tensor weight_;  // three-way
  Matrix source_{nullptr}, target_{nullptr};
};
TORCH_MODULE(Embedding);

/// Rows [0, positions) of the sinusoidal encoding, [positions, D] fp32: sinusoid() of each element.
torch::Tensor sinusoidal_encoding(std::int64_t positions, std::int64_t d_model,
                                  Positions kind = Positions::Sinusoidal);

/// Positional encoding, section 3.5: PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos of
/// the same, interleaved as in the paper; or a learned vector for each position.
struct PositionalEncodingImpl : torch::nn::Module {
  explicit PositionalEncodingImpl(const ModelConfig& config);

  /// x [N, D] + the encodings of positions [N], which are all below `length`. Throws Error if
  /// `length` exceeds the learned positions. Several threads may call it at once.
  torch::Tensor source(const torch::Tensor& x, const torch::Tensor& positions, std::int64_t length);
  torch::Tensor target(const torch::Tensor& x, const torch::Tensor& positions, std::int64_t length);
  /// The encodings of all positions below `length` [at least length, D], in the type and on the
  /// device of `like`; undefined if they are learned.
  torch::Tensor sinusoids(const torch::Tensor& like, std::int64_t length);

 private:
  torch::Tensor learned(const torch::Tensor& x, const torch::Tensor& positions, std::int64_t length,
                        torch::nn::Embedding& embedding) const;

  std::int64_t d_model_;
  Positions kind_;
  std::int64_t max_positions_;
  torch::nn::Embedding source_{nullptr}, target_{nullptr};
  Mutex mutex_;
  // Sinusoidal rows made so far, in the type and on the device of the last use.
  torch::Tensor table_ GUARDED_BY(mutex_);
};
TORCH_MODULE(PositionalEncoding);

}  // namespace dragoman
