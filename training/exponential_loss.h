// Cross-entropy with label smoothing of an output projection whose logits never go to memory: a
// kernel writes exponentials in their place, as soon as it has multiplied. The gradient with
// respect to the logits is exponentials / totals - floor, and what the floor, everywhere the same,
// adds to the gradients needs no product.
#pragma once

#include "training/loss.h"

namespace dragoman {

class ExponentialLoss {
 public:
  /// Whether this processor has the kernels, and the loss nothing that they do not know.
  static bool fits(const torch::Tensor& hidden, bool has_bias, const LossConfig& config);

  /// hidden [N, D], weight [V, D], both bf16; targets [N]. `exponentials` [N, V] is overwritten.
  ExponentialLoss(const torch::Tensor& hidden, const torch::Tensor& weight,
                  const torch::Tensor& targets, const torch::Tensor& exponentials,
                  const LossConfig& config);

  /// False where the logits of a row, or of a diverged model, are beyond the reach of fp32: nothing
  /// else is to be asked for then.
  bool succeeded() const;

  const TokenLosses& losses() const { return losses_; }
  void hidden_gradient_out(torch::Tensor& d_hidden) const;  // [N, D]
  torch::Tensor weight_gradient() const;                    // [V, D]
  void add_weight_gradient(torch::Tensor& sums) const;      // fp32

 private:
  torch::Tensor floor_gradient() const;  // [D], of each row of the weight

  torch::Tensor hidden_, weight_, exponentials_;
  torch::Tensor scaled_;      // [N, D]: hidden states by their totals
  torch::Tensor weight_sum_;  // [D], of the rows
  torch::Tensor inverses_;    // [N], of the totals
  double floor_;
  TokenLosses losses_;
};

}  // namespace dragoman
