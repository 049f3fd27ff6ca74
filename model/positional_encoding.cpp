#include "model/positional_encoding.h"

#include <algorithm>

#include "base/error.h"
#include "model/file/sinusoids.h"

namespace dragoman {

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
  return source_ ? learned(x, positions, length, source_) : sinusoidal(x, positions, length);
}

torch::Tensor PositionalEncodingImpl::target(const torch::Tensor& x, const torch::Tensor& positions,
                                             std::int64_t length) {
  return target_ ? learned(x, positions, length, target_) : sinusoidal(x, positions, length);
}

torch::Tensor PositionalEncodingImpl::learned(const torch::Tensor& x,
                                              const torch::Tensor& positions, std::int64_t length,
                                              torch::nn::Embedding& embedding) const {
  if (length > max_positions_)
    throw Error("a sentence has ", length, " pieces, but this model has learned ", max_positions_,
                " positions (--max-positions)");
  return x + embedding(positions);
}

torch::Tensor PositionalEncodingImpl::sinusoidal(const torch::Tensor& x,
                                                 const torch::Tensor& positions,
                                                 std::int64_t length) {
  MutexLock lock(mutex_);
  if (!table_.defined() || table_.size(0) < length || table_.device() != x.device() ||
      table_.scalar_type() != x.scalar_type()) {
    const std::int64_t rows = std::max<std::int64_t>(256, 2 * length);
    table_ = sinusoidal_encoding(rows, d_model_, kind_).to(x.options().requires_grad(false));
  }
  const torch::Tensor table = table_;
  lock.unlock();
  return x + table.index_select(0, positions);  // [N, D]
}

}  // namespace dragoman
