#include "model/embedding.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/formatted_text.h"
#include "model/ops/layers.h"

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

torch::Tensor sinusoidal_encoding(std::int64_t positions, std::int64_t d_model, Positions kind) {
  auto encoding = torch::empty({positions, d_model}, torch::kFloat32);
  auto* next = encoding.mutable_data_ptr<float>();
  for (std::int64_t position = 0; position < positions; ++position)
    for (std::int64_t c = 0; c < d_model; ++c) *next++ = sinusoid(position, c, d_model, kind);
  return encoding;
}

PositionalEncodingImpl::PositionalEncodingImpl(const ModelConfig& config)
    : d_model_(config.d_model), kind_(config.positions), max_positions_(config.max_positions) {
  if (config.positions == Positions::Learned) {
    source_ = register_module("source", torch::nn::Embedding(max_positions_, d_model_));
    target_ = register_module("target", torch::nn::Embedding(max_positions_, d_model_));
  }
}

torch::Tensor PositionalEncodingImpl::source(const torch::Tensor& x, const torch::Tensor& positions,
                                             std::int64_t length) {
  if (source_) return learned(x, positions, length, source_);
  return x + sinusoids(x, length).index_select(0, positions);  // [N, D]
}

torch::Tensor PositionalEncodingImpl::target(const torch::Tensor& x, const torch::Tensor& positions,
                                             std::int64_t length) {
  if (target_) return learned(x, positions, length, target_);
  return x + sinusoids(x, length).index_select(0, positions);  // [N, D]
}

torch::Tensor PositionalEncodingImpl::learned(const torch::Tensor& x,
                                              const torch::Tensor& positions, std::int64_t length,
                                              torch::nn::Embedding& embedding) const {
  if (length > max_positions_)
    throw Error("a sentence has ", with_separators(length), " pieces, but this model has learned ",
                with_separators(max_positions_), " positions (--max-positions)");
  return x + embedding(positions);
}

torch::Tensor PositionalEncodingImpl::sinusoids(const torch::Tensor& like, std::int64_t length) {
  if (source_) return {};
  const MutexLock lock(mutex_);
  if (!table_.defined() || table_.size(0) < length || table_.device() != like.device() ||
      table_.scalar_type() != like.scalar_type()) {
    const std::int64_t rows = std::max<std::int64_t>(256, 2 * length);
    table_ = sinusoidal_encoding(rows, d_model_, kind_).to(like.options().requires_grad(false));
  }
  return table_;
}

}  // namespace dragoman
