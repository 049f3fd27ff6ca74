#include "model/positional_encoding.h"

#include <cmath>
#include <mutex>

#include "base/error.h"

namespace dragoman {

torch::Tensor sinusoidal_encoding(std::int64_t positions, std::int64_t d_model) {
  const auto position = torch::arange(positions, torch::kFloat64).unsqueeze(1);  // [P, 1]
  const auto column = torch::arange(d_model, torch::kFloat64);
  const auto exponent = (column / 2).floor() * (2.0 / static_cast<double>(d_model));
  const auto angle = position * torch::exp(exponent * -std::log(10000.0));  // [P, D]
  const auto even = column.remainder(2) == 0;
  return torch::where(even, angle.sin(), angle.cos()).to(torch::kFloat32);
}

PositionalEncodingImpl::PositionalEncodingImpl(const ModelConfig& config)
    : d_model_(config.d_model), max_positions_(config.max_positions) {
  if (config.positions == Positions::Learned) {
    source_ = register_module("source", torch::nn::Embedding(max_positions_, d_model_));
    target_ = register_module("target", torch::nn::Embedding(max_positions_, d_model_));
  }
}

torch::Tensor PositionalEncodingImpl::source(const torch::Tensor& x,
                                             const torch::Tensor& positions) {
  return add(x, positions, source_);
}

torch::Tensor PositionalEncodingImpl::target(const torch::Tensor& x,
                                             const torch::Tensor& positions) {
  return add(x, positions, target_);
}

torch::Tensor PositionalEncodingImpl::add(const torch::Tensor& x, const torch::Tensor& positions,
                                          torch::nn::Embedding& learned) {
  if (positions.numel() == 0) return x;
  const std::int64_t needed = positions.max().item<std::int64_t>() + 1;
  if (!learned) {
    static std::mutex mutex;  // threads may share a module tree that computes no gradients
    std::unique_lock lock(mutex);
    const torch::Tensor rows = sinusoidal_rows(x, needed);
    lock.unlock();
    return x + rows.index_select(0, positions);  // [N, D]
  }
  if (needed > max_positions_)
    throw Error("a sentence has ", needed, " pieces, but this model has learned ", max_positions_,
                " positions (--max-positions)");
  return x + learned(positions);
}

const torch::Tensor& PositionalEncodingImpl::sinusoidal_rows(const torch::Tensor& like,
                                                             std::int64_t count) {
  if (!table_.defined() || table_.size(0) < count || table_.device() != like.device() ||
      table_.scalar_type() != like.scalar_type()) {
    const std::int64_t rows = std::max<std::int64_t>(256, 2 * count);
    table_ = sinusoidal_encoding(rows, d_model_).to(like.options().requires_grad(false));
  }
  return table_;
}

}  // namespace dragoman
