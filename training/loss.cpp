#include "training/loss.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

#include "kernels/kernels.h"
#include "model/ops/products.h"
#include "training/exponential_loss.h"

namespace dragoman {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kRowsPerTask = 8;

bool has_kernel(const torch::Tensor& logits) {
  const auto type = logits.scalar_type();
  return logits.device().is_cpu() && (type == torch::kFloat32 || type == torch::kBFloat16);
}

ElementType element_type(const torch::Tensor& logits) {
  return logits.scalar_type() == torch::kBFloat16 ? ElementType::BFloat16 : ElementType::Float32;
}

/// Without asking a device, which would have to catch up.
bool is_one(const torch::Tensor& scalar) {
  return scalar.device().is_cpu() && scalar.item<float>() == 1;
}

/// (1 - smoothing) on each row's target plus smoothing / V everywhere, in plain operations; all
/// that comes of rows without a target is zero.
struct TargetDistribution {
  TargetDistribution(const torch::Tensor& targets, std::int64_t vocabulary, double smoothing)
      : counts(targets.ge(0).to(torch::kFloat32)),
        index(targets.clamp_min(0).unsqueeze(1)),
        uniform(smoothing / static_cast<double>(vocabulary)),
        share(1 - smoothing) {}

  torch::Tensor negative_log_likelihood(const torch::Tensor& log_p) const {
    return log_p.gather(1, index).squeeze(1).neg() * counts;  // [N, V] -> [N]
  }
  torch::Tensor cross_entropy(const torch::Tensor& log_p) const {
    return negative_log_likelihood(log_p) * share - log_p.sum(1) * counts * uniform;
  }
  /// Of the cross-entropy, with respect to the logits of p.
  torch::Tensor gradient(const torch::Tensor& p) const {
    auto d_logits = p - uniform;
    d_logits.scatter_add_(1, index, torch::full_like(index, -share, p.options()));
    return d_logits * counts.unsqueeze(1);
  }

  torch::Tensor counts;  // [N]: 0 for rows without a target
  torch::Tensor index;   // [N, 1]
  double uniform, share;
};

/// hidden weight^T + bias, into `logits`.
void project(torch::Tensor& logits, const torch::Tensor& hidden, const torch::Tensor& weight,
             const std::optional<torch::Tensor>& bias) {
  if (bias)
    torch::addmm_out(logits, *bias, hidden, weight.t());
  else
    linear_product_out(logits, hidden, weight);
}

/// Forward returns the sums of [objective, smoothed cross-entropy, negative log-likelihood]; only
/// the first has a gradient.
struct ProjectedCrossEntropy : torch::autograd::Function<ProjectedCrossEntropy> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& hidden,
                               const torch::Tensor& weight,
                               const std::optional<torch::Tensor>& bias,
                               const torch::Tensor& targets, LossConfig config,
                               bool wants_gradients) {
    RECORD_USER_SCOPE("ProjectedCrossEntropy");
    const auto wide = hidden.options().dtype(torch::kFloat32);
    const std::int64_t tokens = targets.size(0), passes = config.r_drop > 0 ? 2 : 1;
    const std::int64_t vocabulary = weight.size(0), chunk = chunk_size(config, tokens, vocabulary);
    const auto buffer = torch::empty({passes, chunk, vocabulary}, hidden.options());
    auto sums = torch::zeros({3}, wide.dtype(torch::kFloat64));
    torch::Tensor d_hidden, d_weight, d_bias;
    if (wants_gradients) d_hidden = torch::empty_like(hidden);
    const bool only = passes == 1 && chunk == tokens;  // one product, else sums of them in fp32
    if (wants_gradients && !only) d_weight = torch::zeros(weight.sizes(), wide);
    if (wants_gradients && bias) d_bias = torch::zeros(bias->sizes(), wide);
    for (std::int64_t begin = 0; begin < tokens; begin += chunk) {
      const std::int64_t count = std::min(chunk, tokens - begin);
      auto logits = buffer.narrow(1, 0, count).unbind();  // [c, V] of each pass
      const auto rows = [&](const torch::Tensor& x, std::int64_t pass) {
        return x.narrow(0, pass * tokens + begin, count);  // [c, D]
      };
      if (wants_gradients && ExponentialLoss::fits(hidden, bias.has_value(), config)) {
        const ExponentialLoss loss(rows(hidden, 0), weight, targets.narrow(0, begin, count),
                                   logits[0], config);
        if (loss.succeeded()) {
          auto d_h = rows(d_hidden, 0);
          loss.hidden_gradient_out(d_h);
          if (only)
            d_weight = loss.weight_gradient();
          else
            loss.add_weight_gradient(d_weight);
          sums += sums_of(loss.losses());
          continue;
        }
      }
      for (std::int64_t pass = 0; pass < passes; ++pass)
        project(logits[pass], rows(hidden, pass), weight, bias);
      sums += losses_in_place(logits, targets.narrow(0, begin, count), config);
      if (!wants_gradients) continue;
      for (std::int64_t pass = 0; pass < passes; ++pass) {
        auto d_h = rows(d_hidden, pass);
        input_gradient_out(d_h, logits[pass], weight);
        if (only)
          d_weight = weight_gradient(logits[pass], rows(hidden, pass));  // [V, D]
        else
          add_weight_gradient(d_weight, logits[pass], rows(hidden, pass));
        if (bias) d_bias.add_(logits[pass].sum(0, false, torch::kFloat32));
      }
    }
    if (wants_gradients)
      for (const auto& [name, gradient] :
           {std::pair(kHidden, d_hidden), {kWeight, d_weight}, {kBias, d_bias}})
        if (gradient.defined()) context->saved_data[name] = gradient.to(hidden.scalar_type());
    auto objective = sums[0].to(torch::kFloat32), smoothed = sums[1].clone(),
         likelihood = sums[2].clone();
    context->mark_non_differentiable({smoothed, likelihood});
    return {objective, smoothed, likelihood};
  }

  /// The three sums over a chunk, whose logits become gradients.
  static torch::Tensor losses_in_place(std::vector<torch::Tensor>& logits,
                                       const torch::Tensor& targets, const LossConfig& config) {
    const TokenLosses losses = config.r_drop > 0
                                   ? r_drop_in_place(logits[0], logits[1], targets, config)
                                   : cross_entropy_in_place(logits[0], targets, config);
    return sums_of(losses);
  }

  static torch::Tensor sums_of(const TokenLosses& losses) {
    return torch::stack({losses.objective.sum(torch::kFloat64),
                         losses.smoothed.sum(torch::kFloat64),
                         losses.negative_log_likelihood.sum(torch::kFloat64)});
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    // Nobody else holds them: a parameter takes them for its gradient without a copy.
    const auto scaled = [&](const char* name) {
      const auto saved = context->saved_data.find(name);
      if (saved == context->saved_data.end()) return torch::Tensor();
      auto gradient = saved->second.toTensor();
      context->saved_data.erase(saved);
      return is_one(gradients[0]) ? gradient
                                  : gradient.mul_(gradients[0].to(gradient.scalar_type()));
    };
    return {scaled(kHidden), scaled(kWeight), scaled(kBias), {}, {}, {}};
  }

  static constexpr const char *kHidden = "d_hidden", *kWeight = "d_weight", *kBias = "d_bias";
};

}  // namespace

std::int64_t chunk_size(const LossConfig& config, std::int64_t tokens, std::int64_t vocabulary) {
  constexpr std::int64_t kLogits = 1 << 25;
  const std::int64_t most = config.chunk_tokens > 0
                                ? config.chunk_tokens
                                : std::max<std::int64_t>(kLogits / vocabulary, 1);
  const std::int64_t chunks = std::max<std::int64_t>((tokens + most - 1) / most, 1);
  return (tokens + chunks - 1) / chunks;
}

LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 const LossConfig& config) {
  const auto sums = ProjectedCrossEntropy::apply(
      hidden.contiguous(), weight, bias.defined() ? std::optional(bias) : std::nullopt, targets,
      config, torch::GradMode::is_enabled() && hidden.requires_grad());
  return {sums[0], sums[1].item<double>(), sums[2].item<double>()};
}

TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   const LossConfig& config) {
  if (!has_kernel(logits)) return cross_entropy_reference(logits, targets, config);
  const auto options = logits.options().dtype(torch::kFloat32);
  const auto smoothed = torch::empty({logits.size(0)}, options);
  const auto likelihood = torch::empty_like(smoothed);
  run_rows(kernels().loss, element_type(logits),
           LossArguments{logits.mutable_data_ptr(), targets.const_data_ptr<std::int64_t>(),
                         smoothed.mutable_data_ptr<float>(), likelihood.mutable_data_ptr<float>(),
                         logits.size(1), static_cast<float>(config.label_smoothing)},
           logits.size(0), kRowsPerTask);
  return {smoothed, smoothed, likelihood};
}

TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    const LossConfig& config) {
  const TargetDistribution target(targets, logits.size(1), config.label_smoothing);
  const auto log_p = logits.to(torch::kFloat32).log_softmax(1);
  logits.copy_(target.gradient(log_p.exp()));
  const auto smoothed = target.cross_entropy(log_p);
  return {smoothed, smoothed, target.negative_log_likelihood(log_p)};
}

TokenLosses r_drop_in_place(torch::Tensor& first, torch::Tensor& second,
                            const torch::Tensor& targets, const LossConfig& config) {
  if (!has_kernel(first)) return r_drop_reference(first, second, targets, config);
  const auto options = first.options().dtype(torch::kFloat32);
  const auto smoothed = torch::empty({first.size(0)}, options);
  const auto likelihood = torch::empty_like(smoothed), divergence = torch::empty_like(smoothed);
  run_rows(
      kernels().r_drop, element_type(first),
      RDropArguments{first.mutable_data_ptr(), second.mutable_data_ptr(),
                     targets.const_data_ptr<std::int64_t>(), smoothed.mutable_data_ptr<float>(),
                     likelihood.mutable_data_ptr<float>(), divergence.mutable_data_ptr<float>(),
                     first.size(1), static_cast<float>(config.label_smoothing),
                     static_cast<float>(config.r_drop)},
      first.size(0), kRowsPerTask);
  return {smoothed + divergence * (config.r_drop / 2), smoothed, likelihood};
}

TokenLosses r_drop_reference(torch::Tensor& first, torch::Tensor& second,
                             const torch::Tensor& targets, const LossConfig& config) {
  const TargetDistribution target(targets, first.size(1), config.label_smoothing);
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

}  // namespace dragoman
