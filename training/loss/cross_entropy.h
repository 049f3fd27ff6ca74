// Cross-entropy with label smoothing (section 5.4; Szegedy et al. 2016) of a token's logits z:
//   loss = -sum_v q_v log p_v, with p = softmax(z)
//   q_v = (1 - smoothing) [v = target] + smoothing / V
//   d loss / d z_v = p_v - q_v
#pragma once

#include "training/loss/loss_config.h"
#include "training/loss/token_losses.h"

namespace dragoman {

/// The losses of logits [N, V]; the logits are replaced by the gradient of the loss. targets [N]
/// int64, -1 for rows without one. Runs our kernel on the CPU, the reference elsewhere.
TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   const LossConfig& config);
/// The same by plain tensor operations, for any device.
TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    const LossConfig& config);

/// The distributions q of targets [N] over V tokens, for references. Rows without a target give 0.
struct SmoothedTargets {
  SmoothedTargets(const torch::Tensor& targets, std::int64_t vocabulary, double smoothing);

  torch::Tensor negative_log_likelihood(const torch::Tensor& log_p) const;  ///< [N, V] -> [N]
  torch::Tensor cross_entropy(const torch::Tensor& log_p) const;            ///< [N, V] -> [N]
  torch::Tensor gradient(const torch::Tensor& p) const;                     ///< p - q, [N, V]

  torch::Tensor counts;       ///< [N]: 0 for rows without a target, else 1
  torch::Tensor index;        ///< [N, 1]: the targets
  double uniform, on_target;  ///< smoothing / V everywhere, and 1 - smoothing on the target
};

}  // namespace dragoman
