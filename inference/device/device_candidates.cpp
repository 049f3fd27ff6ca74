#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "inference/device/device_search.h"
#include "kernels/cuda/add_norm.h"
#include "kernels/cuda/best_tokens.h"
#include "model/ops/cuda_kernels.h"

namespace dragoman {

namespace {

/// By our kernel. With `log_sums` the values are logits, and become log-probabilities.
DeviceCandidates best_by_kernel(const torch::Tensor& values, std::int64_t count,
                                const torch::Tensor& never_bits, torch::Tensor log_sums) {
  const auto rows = values.contiguous();
  const std::vector<std::int64_t> shape = {rows.size(0), count};
  DeviceCandidates best{.tokens = torch::empty(shape, rows.options().dtype(torch::kInt64)),
                        .log_probabilities = torch::empty(shape, rows.options()),
                        .log_sums = std::move(log_sums)};
  const CudaBestTokens arguments{
      .values = rows.const_data_ptr<float>(),
      .never = never_bits.defined() ? never_bits.const_data_ptr<std::uint8_t>() : nullptr,
      .tokens = long_longs(best.tokens.mutable_data_ptr<std::int64_t>()),
      .best = best.log_probabilities.mutable_data_ptr<float>(),
      .log_sums = best.log_sums.defined() ? best.log_sums.mutable_data_ptr<float>() : nullptr,
      .rows = static_cast<unsigned>(rows.size(0)),
      .columns = static_cast<unsigned>(rows.size(1)),
      .count = static_cast<unsigned>(count)};
  const unsigned threads = std::min(cuda_threads_of_row(arguments.columns), kCudaBestThreads);
  launch_cuda_kernel("best_tokens", rows, {rows.size(0), threads}, &arguments);
  return best;
}

/// Numbers that sort like (value, then the smaller token): [R, V] fp32 -> int64.
torch::Tensor rank_keys(const torch::Tensor& values) {
  const auto tokens = torch::arange(values.size(1), values.options().dtype(torch::kInt64));
  const auto bits = (values + 0.0F).view(torch::kInt32);  // no -0
  // The bits of floats sort like integers; those of negative floats sort the other way round.
  const auto ordered = bits.bitwise_xor((bits < 0).to(torch::kInt32) * 0x7FFFFFFF);
  return ordered.to(torch::kInt64) * (std::int64_t{1} << 32) + (values.size(1) - 1 - tokens);
}

/// The index [R, 1] of each row's choice among the log-probabilities [R, C], in the order in which
/// they are drawn from.
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

}  // namespace

DeviceCandidates candidates_of_logits(const torch::Tensor& logits, std::int64_t count,
                                      const torch::Tensor& never_bits) {
  return best_by_kernel(logits, count, never_bits,
                        torch::empty({logits.size(0)}, logits.options()));
}

DeviceCandidates best_candidates(const torch::Tensor& log_probabilities, std::int64_t count) {
  if (has_cuda_kernel_for(log_probabilities))
    return best_by_kernel(log_probabilities, count, {}, {});
  const auto keys = std::get<0>(rank_keys(log_probabilities).topk(count, 1));
  const auto tokens = log_probabilities.size(1) - 1 - keys.bitwise_and(0xFFFFFFFF);
  return {.tokens = tokens, .log_probabilities = log_probabilities.gather(1, tokens)};
}

DeviceCandidates drawn_candidates(const torch::Tensor& log_probabilities,
                                  const DecodeConfig& config, const torch::Tensor& uniform) {
  const std::int64_t vocabulary = log_probabilities.size(1);
  const std::int64_t count = SentenceSearch::candidates_needed(config, vocabulary);
  DeviceCandidates from{.tokens = {}, .log_probabilities = log_probabilities};
  const bool is_ordered = count < vocabulary || config.sampling_topp < 1;
  if (is_ordered) from = best_candidates(log_probabilities, count);
  const auto choice = draw(from.log_probabilities, config, uniform);
  const auto can_draw = from.log_probabilities.gt(-INFINITY).any(1, true);
  return {.tokens = is_ordered ? from.tokens.gather(1, choice) : choice,
          .log_probabilities =
              torch::where(can_draw, from.log_probabilities.gather(1, choice), -INFINITY)};
}

}  // namespace dragoman
