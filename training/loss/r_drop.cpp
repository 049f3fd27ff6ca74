#include "training/loss/r_drop.h"

#include "model/ops/kernel_call.h"
#include "training/loss/cross_entropy.h"

namespace dragoman {

namespace {

PackedSide repeated(const SideView& side) {
  PackedSide twice{.tokens = {}, .starts = {0}};
  for (int pass = 0; pass < 2; ++pass) {
    twice.tokens.insert(twice.tokens.end(), side.tokens.begin(), side.tokens.end());
    for (std::size_t b = 1; b < side.starts.size(); ++b)
      twice.starts.push_back(twice.starts.back() + side.starts[b] - side.starts[b - 1]);
  }
  return twice;
}

}  // namespace

PackedBatch both_passes(const BatchView& batch) {
  PackedBatch twice{repeated(batch.source), repeated(batch.target), {}, {}};
  for (const std::int64_t sentence : batch.sentences) twice.sentences.push_back(sentence);
  for (const std::int64_t sentence : batch.sentences) twice.sentences.push_back(~sentence);
  for (int pass = 0; pass < 2; ++pass)
    twice.links.insert(twice.links.end(), batch.links.begin(), batch.links.end());
  return twice;
}

Predictions passes_apart(const torch::Tensor& hidden, const torch::Tensor& targets,
                         std::int64_t tokens) {
  const std::int64_t rows = hidden.size(0) / 2;
  auto first_targets = targets.narrow(0, 0, rows).clone();
  first_targets.narrow(0, tokens, rows - tokens).fill_(-1);
  return {torch::cat({hidden.narrow(0, 0, rows), hidden.narrow(0, tokens, rows)}), first_targets};
}

TokenLosses r_drop_reference(torch::Tensor& first, torch::Tensor& second,
                             const torch::Tensor& targets, const LossConfig& config) {
  const SmoothedTargets target(targets, first.size(1), config.label_smoothing);
  const auto l = first.to(torch::kFloat32).log_softmax(1);
  const auto m = second.to(torch::kFloat32).log_softmax(1);
  const auto p = l.exp(), q = m.exp();
  const auto forth = (p * (l - m)).sum(1, true), back = (q * (m - l)).sum(1, true);  // [N, 1]
  const auto agreement = [&](const torch::Tensor& x) {
    return x * target.counts.unsqueeze(1) * (config.r_drop / 4);
  };
  first.copy_(target.gradient(p) / 2 + agreement(p * (l - m - forth) + p - q));
  second.copy_(target.gradient(q) / 2 + agreement(q * (m - l - back) + q - p));
  const auto smoothed = (target.cross_entropy(l) + target.cross_entropy(m)) / 2;
  const auto divergence = (forth + back).squeeze(1) * target.counts / 2;
  return {smoothed + divergence * (config.r_drop / 2), smoothed,
          (target.negative_log_likelihood(l) + target.negative_log_likelihood(m)) / 2};
}

TokenLosses r_drop_in_place(torch::Tensor& first, torch::Tensor& second,
                            const torch::Tensor& targets, const LossConfig& config) {
  if (!has_kernel_for(first)) return r_drop_reference(first, second, targets, config);
  const auto options = first.options().dtype(torch::kFloat32);
  const auto smoothed = torch::empty({first.size(0)}, options);
  const auto likelihood = torch::empty_like(smoothed), divergence = torch::empty_like(smoothed);
  run_rows(
      batch_kernels().r_drop, element_type(first),
      RDropArguments{first.mutable_data_ptr(), second.mutable_data_ptr(),
                     targets.const_data_ptr<std::int64_t>(), smoothed.mutable_data_ptr<float>(),
                     likelihood.mutable_data_ptr<float>(), divergence.mutable_data_ptr<float>(),
                     first.size(1), static_cast<float>(config.label_smoothing),
                     static_cast<float>(config.r_drop)},
      first.size(0), kTokensPerTask);
  return {smoothed + divergence * (config.r_drop / 2), smoothed, likelihood};
}

}  // namespace dragoman
