// The losses of each token, and their gradients, from logits.
//
// Cross-entropy with label smoothing (section 5.4; Szegedy et al. 2016) of a token's logits z:
//   loss = -sum_v q_v log p_v, with p = softmax(z)
//   q_v = (1 - smoothing) [v = target] + smoothing / V
//   d loss / d z_v = p_v - q_v
//
// R-Drop (Wu et al. 2021): two passes with different dropout predict p and q for each token, and
// the divergence between them is minimised with their cross-entropies CE. For each token
//   objective = (CE(p) + CE(q)) / 2 + alpha / 2 * (KL(p || q) + KL(q || p)) / 2
// with KL(p || q) = sum_v p_v (log p_v - log q_v). That is half the paper's objective, so that
// learning rate and clipping keep their meaning. With respect to the logits of p (for those of q,
// exchange p and q)
//   gradient = (p - target) / 2 + alpha / 4 * (p (log p - log q - KL(p || q)) + p - q)
// with the smoothed distribution above as `target`.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "data/packed_batch.h"
#include "training/loss/loss_config.h"

namespace dragoman {

/// [N] each, fp32. A row without a target has zeros.
struct TokenLosses {
  torch::Tensor objective;                ///< the number that an update minimises
  torch::Tensor smoothed;                 ///< cross-entropy with label smoothing
  torch::Tensor negative_log_likelihood;  ///< cross-entropy without
};

// ---- cross-entropy ------------------------------------------------------------------------------

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

// ---- R-Drop -------------------------------------------------------------------------------------

/// The batch twice. The second copy has other sentence numbers, so its dropout masks differ.
PackedBatch both_passes(const BatchView& batch);

/// The model's output and its targets, as projected_cross_entropy() takes them.
struct Predictions {
  torch::Tensor hidden;   ///< [passes * R, D], one pass after the other
  torch::Tensor targets;  ///< [R]
};
/// Cuts the model's output for both_passes() into the passes. hidden [2R, D] has the `tokens` rows
/// of the first pass, those of the second, then filler rows. In the result each pass has R rows,
/// filler rows included, the first pass before the second; targets are [R], the same for both.
Predictions passes_apart(const torch::Tensor& hidden, const torch::Tensor& targets,
                         std::int64_t tokens);

/// The losses of the logits [N, V] of two passes over the same tokens. Both logits are replaced by
/// their gradients. `smoothed` and the negative log-likelihood are means of both passes. targets
/// [N] int64, -1 for rows without one. Runs our kernel on the CPU, the reference elsewhere.
TokenLosses r_drop_in_place(torch::Tensor& first, torch::Tensor& second,
                            const torch::Tensor& targets, const LossConfig& config);
/// The same by plain tensor operations, for any device.
TokenLosses r_drop_reference(torch::Tensor& first, torch::Tensor& second,
                             const torch::Tensor& targets, const LossConfig& config);

}  // namespace dragoman
