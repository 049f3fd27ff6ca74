#include "training/loss/cross_entropy.h"

#include "model/ops/kernel_call.h"

namespace dragoman {

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

}  // namespace dragoman
