#include "training/loss/token_losses.h"

#include "model/ops/kernel_call.h"

namespace dragoman {

namespace {

/// Rows of logits that a kernel's task takes.
constexpr std::int64_t kTokensPerTask = 8;

}  // namespace

// ---- cross-entropy ------------------------------------------------------------------------------

SmoothedTargets::SmoothedTargets(const torch::Tensor& targets, std::int64_t vocabulary,
                                 double smoothing)
    : counts(targets.ge(0).to(torch::kFloat32)),
      index(targets.clamp_min(0).unsqueeze(1)),
      uniform(smoothing / static_cast<double>(vocabulary)),
      on_target(1 - smoothing) {}

torch::Tensor SmoothedTargets::negative_log_likelihood(const torch::Tensor& log_p) const {
  return log_p.gather(1, index).squeeze(1).neg() * counts;
}

torch::Tensor SmoothedTargets::cross_entropy(const torch::Tensor& log_p) const {
  return negative_log_likelihood(log_p) * on_target - log_p.sum(1) * counts * uniform;
}

torch::Tensor SmoothedTargets::gradient(const torch::Tensor& p) const {
  auto d_logits = p - uniform;
  d_logits.scatter_add_(1, index, torch::full_like(index, -on_target, p.options()));
  return d_logits * counts.unsqueeze(1);
}

TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    const LossConfig& config) {
  const SmoothedTargets q(targets, logits.size(1), config.label_smoothing);
  const auto log_p = logits.to(torch::kFloat32).log_softmax(1);
  logits.copy_(q.gradient(log_p.exp()));
  const auto smoothed = q.cross_entropy(log_p);
  return {smoothed, smoothed, q.negative_log_likelihood(log_p)};
}

TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   const LossConfig& config) {
  if (!has_kernel_for(logits)) return cross_entropy_reference(logits, targets, config);
  const auto options = logits.options().dtype(torch::kFloat32);
  const auto smoothed = torch::empty({logits.size(0)}, options);
  const auto likelihood = torch::empty_like(smoothed);
  run_rows(batch_kernels().loss, element_type(logits),
           LossArguments{logits.mutable_data_ptr(), targets.const_data_ptr<std::int64_t>(),
                         smoothed.mutable_data_ptr<float>(), likelihood.mutable_data_ptr<float>(),
                         logits.size(1), static_cast<float>(config.label_smoothing)},
           logits.size(0), kTokensPerTask);
  return {smoothed, smoothed, likelihood};
}

// ---- R-Drop -------------------------------------------------------------------------------------

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
