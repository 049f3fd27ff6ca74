#include "training/loss.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "kernels/kernels.h"

namespace dragoman {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Forward returns [smoothed loss sum, negative log-likelihood sum]; the second has no gradient.
struct ProjectedCrossEntropy : torch::autograd::Function<ProjectedCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden,
                               const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias,
                               const torch::Tensor& targets, double label_smoothing,
                               std::int64_t chunk_tokens, bool wants_gradients) {
    RECORD_USER_SCOPE("ProjectedCrossEntropy");
    const auto wide = hidden.options().dtype(torch::kFloat32);
    const std::int64_t tokens = hidden.size(0), vocabulary = weight.size(0);
    const std::int64_t chunk = std::min(chunk_tokens, tokens);
    auto buffer = torch::empty({chunk, vocabulary}, hidden.options());
    auto sums = torch::zeros({2}, wide.dtype(torch::kFloat64));
    torch::Tensor d_hidden, d_weight, d_bias;
    if (wants_gradients) {
      d_hidden = torch::empty_like(hidden);
      d_weight = torch::zeros({vocabulary, weight.size(1)}, wide);
      if (bias) d_bias = torch::zeros({vocabulary}, wide);
    }
    for (std::int64_t begin = 0; begin < tokens; begin += chunk) {
      const std::int64_t count = std::min(chunk, tokens - begin);
      const auto h = hidden.narrow(0, begin, count);  // [c, D]
      auto logits = buffer.narrow(0, 0, count);       // [c, V]
      if (bias)
        torch::addmm_out(logits, *bias, h, weight.t());
      else
        torch::mm_out(logits, h, weight.t());
      const auto losses =
          cross_entropy_in_place(logits, targets.narrow(0, begin, count), label_smoothing);
      sums[0] += losses.smoothed.sum(torch::kFloat64);
      sums[1] += losses.negative_log_likelihood.sum(torch::kFloat64);
      if (!wants_gradients) continue;
      auto d_h = d_hidden.narrow(0, begin, count);
      torch::mm_out(d_h, logits, weight);
      d_weight.add_(torch::mm(logits.t(), h));  // [V, D], summed in fp32
      if (bias) d_bias.add_(logits.sum(0, false, torch::kFloat32));
    }
    if (wants_gradients)
      context->save_for_backward({d_hidden, d_weight.to(weight.scalar_type()),
                                  bias ? d_bias.to(bias->scalar_type()) : d_bias});
    auto loss = sums[0].to(torch::kFloat32), likelihood = sums[1].clone();
    context->mark_non_differentiable({likelihood});
    return {loss, likelihood};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto scaled = [&](const torch::Tensor& x) {
      return x.defined() ? x * gradients[0].to(x.scalar_type()) : x;
    };
    return {scaled(saved[0]), scaled(saved[1]), scaled(saved[2]), {}, {}, {}, {}};
  }
};

}  // namespace

LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 double label_smoothing, std::int64_t chunk_tokens) {
  const auto sums = ProjectedCrossEntropy::apply(
      hidden, weight, bias.defined() ? std::optional(bias) : std::nullopt, targets, label_smoothing,
      chunk_tokens, torch::GradMode::is_enabled() && hidden.requires_grad());
  return {sums[0], sums[1].item<double>()};
}

TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   double label_smoothing) {
  const bool half = logits.scalar_type() == torch::kBFloat16;
  if (!logits.device().is_cpu() || (!half && logits.scalar_type() != torch::kFloat32))
    return cross_entropy_reference(logits, targets, label_smoothing);
  const auto options = logits.options().dtype(torch::kFloat32);
  TokenLosses losses{torch::empty({logits.size(0)}, options),
                     torch::empty({logits.size(0)}, options)};
  run_rows(kernels().loss, half ? ElementType::BFloat16 : ElementType::Float32,
           LossArguments{logits.mutable_data_ptr(), targets.const_data_ptr<std::int64_t>(),
                         losses.smoothed.mutable_data_ptr<float>(),
                         losses.negative_log_likelihood.mutable_data_ptr<float>(), logits.size(1),
                         static_cast<float>(label_smoothing)},
           logits.size(0), 8);
  return losses;
}

TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    double label_smoothing) {
  const auto log_p = logits.to(torch::kFloat32).log_softmax(1);
  const auto counts = targets.ge(0).to(torch::kFloat32);  // [N]: 0 for rows without a target
  const auto index = targets.clamp_min(0).unsqueeze(1);
  const double uniform = label_smoothing / static_cast<double>(logits.size(1));
  const auto likelihood = log_p.gather(1, index).squeeze(1).neg() * counts;
  const auto smoothed = likelihood * (1 - label_smoothing) - log_p.sum(1) * counts * uniform;
  auto gradient = log_p.exp() - uniform;
  gradient.scatter_add_(1, index, torch::full_like(index, -(1 - label_smoothing), log_p.options()));
  logits.copy_(gradient * counts.unsqueeze(1));
  return {smoothed, likelihood};
}

}  // namespace dragoman
