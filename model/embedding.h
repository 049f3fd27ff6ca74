// The embeddings of source and target, section 3.4, multiplied by sqrt(d_model): one matrix for
// both sides and the output projection (the paper), or a matrix for each side. An untied output
// projection is in transformer.h.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/file/model_config.h"

namespace dragoman {

/// A submodule with one weight, so that the matrix of a side has the name "source.weight".
struct MatrixImpl : torch::nn::Module {
  MatrixImpl(std::int64_t rows, std::int64_t columns);
  torch::Tensor weight;  ///< [rows, columns]
};
TORCH_MODULE(Matrix);

struct EmbeddingImpl : torch::nn::Module {
  explicit EmbeddingImpl(const ModelConfig& config);

  torch::Tensor source_weight() const;  ///< [Vs, D]
  torch::Tensor target_weight() const;  ///< [Vt, D]
  /// Token ids [N] -> [N, D]. -1 gives the zero vector, from which the decoder starts.
  torch::Tensor source(const torch::Tensor& tokens) const;
  torch::Tensor target(const torch::Tensor& tokens) const;

 private:
  double scale_;
  torch::Tensor weight_;  // three-way
  Matrix source_{nullptr}, target_{nullptr};
};
TORCH_MODULE(Embedding);

}  // namespace dragoman
