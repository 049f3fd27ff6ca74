#include "model/embedding.h"

#include <cmath>

#include "model/ops/embedding.h"

namespace dragoman {

MatrixImpl::MatrixImpl(std::int64_t rows, std::int64_t columns)
    : weight(register_parameter("weight", torch::empty({rows, columns}))) {}

EmbeddingImpl::EmbeddingImpl(const ModelConfig& config)
    : scale_(std::sqrt(static_cast<double>(config.d_model))) {
  if (config.tying == Tying::ThreeWay) {
    weight_ =
        register_parameter("weight", torch::empty({config.source_vocabulary, config.d_model}));
  } else {
    source_ = register_module("source", Matrix(config.source_vocabulary, config.d_model));
    target_ = register_module("target", Matrix(config.target_vocabulary, config.d_model));
  }
}

torch::Tensor EmbeddingImpl::source_weight() const { return source_ ? source_->weight : weight_; }

torch::Tensor EmbeddingImpl::target_weight() const { return target_ ? target_->weight : weight_; }

torch::Tensor EmbeddingImpl::source(const torch::Tensor& tokens) const {
  return embed(tokens, source_weight(), scale_);
}

torch::Tensor EmbeddingImpl::target(const torch::Tensor& tokens) const {
  return embed(tokens, target_weight(), scale_);
}

}  // namespace dragoman
