// Cross-entropy with label smoothing of an output projection z = h W^T whose logits never go to
// memory. A kernel writes exponentials in their place, as soon as it has multiplied:
//   e_v = exp(z_v - z_target), total = sum_v e_v, so -log p_target = log(total), p_v = e_v / total
//   loss = log(total) - floor * sum_v (z_v - z_target), and sum_v z_v = h . (sum of W's rows)
//   y_v = e_v - [v = target] (1 - smoothing) total, floor = smoothing / V
//   d loss / d z_v = y_v / total - floor
// The floor is the same for all v. So its term in the gradients needs no product:
//   dh = (y W) / total - floor * (sum of W's rows)
//   dW = y^T (h / total) - floor * (sum of h over the tokens that have a target)
#pragma once

#include "training/loss/loss_config.h"
#include "training/loss/token_losses.h"

namespace dragoman {

/// The output projection's weight as the chunks of a batch need it.
struct ExponentialWeight {
  explicit ExponentialWeight(const torch::Tensor& weight);

  torch::Tensor weight;       ///< [V, D] bf16
  torch::Tensor packed;       ///< for z = h W^T
  torch::Tensor transposed;   ///< packed for y W
  torch::Tensor sum_of_rows;  ///< [D] fp32
};

class ExponentialLoss {
 public:
  /// Whether there are kernels for this type and processor, and the loss has neither an output bias
  /// nor R-Drop, for which there are none.
  static bool fits(const torch::Tensor& hidden, bool has_bias, const LossConfig& config);

  /// hidden [N, D] bf16, targets [N]. `exponentials` [N, V] is overwritten. The weight must outlive
  /// this object.
  ExponentialLoss(const torch::Tensor& hidden, const ExponentialWeight& weight,
                  const torch::Tensor& targets, const torch::Tensor& exponentials,
                  const LossConfig& config);

  /// False where a row's total exceeds fp32, as in a model that has diverged. The other functions
  /// must not be called then.
  bool succeeded() const;

  const TokenLosses& losses() const { return losses_; }
  void hidden_gradient_out(torch::Tensor& d_hidden) const;  // [N, D]
  torch::Tensor weight_gradient() const;                    // [V, D]
  void add_weight_gradient(torch::Tensor& sums) const;      // fp32

 private:
  torch::Tensor floor_gradient() const;  // [D], of each row of the weight

  const ExponentialWeight& weight_;
  torch::Tensor hidden_, exponentials_;
  torch::Tensor scaled_;    // [N, D]: hidden states divided by their totals
  torch::Tensor inverses_;  // [N]: 1 / total; 0 in rows without a target
  double floor_;
  TokenLosses losses_;
};

}  // namespace dragoman
