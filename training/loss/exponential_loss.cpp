#include "training/loss/exponential_loss.h"

#include "model/ops/products.h"

namespace dragoman {

namespace {

/// Of x [N, C] with weights [N], in fp32.
torch::Tensor sum_of_rows(const torch::Tensor& x, const torch::Tensor& weights) {
  auto sums = torch::zeros({1, x.size(1)}, x.options().dtype(torch::kFloat32));
  add_weight_gradient(sums, weights.unsqueeze(1), x);
  return sums.squeeze(0);
}

}  // namespace

bool ExponentialLoss::fits(const torch::Tensor& hidden, bool has_bias, const LossConfig& config) {
  return is_own_product(hidden) && !has_bias && config.r_drop == 0;
}

ExponentialWeight::ExponentialWeight(const torch::Tensor& output_weight)
    : weight(output_weight.contiguous()),
      packed(pack_weight(weight)),
      transposed(pack_transposed(weight)),
      sum_of_rows(dragoman::sum_of_rows(weight, torch::ones({weight.size(0)}, weight.options()))) {}

ExponentialLoss::ExponentialLoss(const torch::Tensor& hidden, const ExponentialWeight& weight,
                                 const torch::Tensor& targets, const torch::Tensor& exponentials,
                                 const LossConfig& config)
    : weight_(weight),
      hidden_(hidden.contiguous()),
      exponentials_(exponentials),
      scaled_(torch::empty_like(hidden_)),
      inverses_(torch::empty({hidden.size(0)}, hidden.options().dtype(torch::kFloat32))),
      floor_(config.label_smoothing / static_cast<double>(weight.weight.size(0))) {
  losses_.smoothed = losses_.objective = torch::empty_like(inverses_);
  losses_.negative_log_likelihood = torch::empty_like(inverses_);
  run_product(batch_kernels().projected_loss,
              ProjectedLossArguments{
                  product_arguments(exponentials_, hidden_, weight_.packed, {}),
                  weight_.weight.const_data_ptr(), weight_.sum_of_rows.const_data_ptr<float>(),
                  targets.const_data_ptr<std::int64_t>(), inverses_.mutable_data_ptr<float>(),
                  scaled_.mutable_data_ptr(), losses_.smoothed.mutable_data_ptr<float>(),
                  losses_.negative_log_likelihood.mutable_data_ptr<float>(),
                  static_cast<float>(config.label_smoothing)},
              hidden_);
}

bool ExponentialLoss::succeeded() const { return !losses_.smoothed.isnan().any().item<bool>(); }

void ExponentialLoss::hidden_gradient_out(torch::Tensor& d_hidden) const {
  const auto offsets = weight_.sum_of_rows * floor_;
  run_product(
      batch_kernels().scaled_product,
      ScaledProductArguments{product_arguments(d_hidden, exponentials_, weight_.transposed, {}),
                             inverses_.const_data_ptr<float>(), offsets.const_data_ptr<float>()},
      exponentials_);
}

torch::Tensor ExponentialLoss::floor_gradient() const {
  const auto has_target = inverses_.gt(0).to(hidden_.scalar_type());
  return sum_of_rows(hidden_, has_target) * -floor_;
}

torch::Tensor ExponentialLoss::weight_gradient() const {
  return dragoman::weight_gradient(exponentials_, scaled_, floor_gradient());
}

void ExponentialLoss::add_weight_gradient(torch::Tensor& sums) const {
  sums.add_(floor_gradient());
  dragoman::add_weight_gradient(sums, exponentials_, scaled_);
}

}  // namespace dragoman
