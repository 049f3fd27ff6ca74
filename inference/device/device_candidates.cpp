#include "inference/device/device_candidates.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>

#include <cmath>

namespace dragoman {

namespace {

/// Numbers that sort like (value, then the smaller token): [R, V] fp32 -> int64.
torch::Tensor rank_keys(const torch::Tensor& values) {
  const auto tokens = torch::arange(values.size(1), values.options().dtype(torch::kInt64));
  const auto bits = (values + 0.0F).view(torch::kInt32);  // no -0
  // The bits of floats sort like integers, those of negative ones the other way round.
  const auto ordered = bits.bitwise_xor((bits < 0).to(torch::kInt32) * 0x7FFFFFFF);
  return ordered.to(torch::kInt64) * (std::int64_t{1} << 32) + (values.size(1) - 1 - tokens);
}

}  // namespace

torch::Tensor best_tokens(const torch::Tensor& values, std::int64_t count) {
  const auto keys = std::get<0>(rank_keys(values).topk(count, 1));
  return values.size(1) - 1 - keys.bitwise_and(0xFFFFFFFF);
}

torch::Tensor draw(const torch::Tensor& log_probabilities, const DecodeConfig& config,
                   const torch::Tensor& uniform) {
  const auto exact = log_probabilities.to(torch::kFloat64);
  const auto relative = ((exact - exact.amax(1, true)) / config.temperature).exp();
  auto weights = torch::where(exact.gt(-INFINITY), relative, 0.0);
  if (config.sampling_topp < 1) {
    const auto before = weights.cumsum(1) - weights;
    weights = torch::where(before.lt(config.sampling_topp * weights.sum(1, true)), weights, 0.0);
  }
  const auto left = uniform * weights.sum(1, true);
  const auto index =
      torch::arange(weights.size(1), log_probabilities.options().dtype(torch::kInt64));
  const auto last = torch::where(weights.gt(0), index, 0).amax(1, true);
  return weights.cumsum(1).le(left).sum(1, true).minimum(last);
}

}  // namespace dragoman
