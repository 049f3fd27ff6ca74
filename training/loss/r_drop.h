// R-Drop (Wu et al. 2021): two passes with different dropout predict p and q for each token, and
// the divergence between them is minimised with their cross-entropies CE. For each token
//   objective = (CE(p) + CE(q)) / 2 + alpha / 2 * (KL(p || q) + KL(q || p)) / 2
// with KL(p || q) = sum_v p_v (log p_v - log q_v). That is half the paper's objective: learning
// rate and clipping keep their meaning. With respect to the logits of p (for those of q, exchange p
// and q)
//   gradient = (p - target) / 2 + alpha / 4 * (p (log p - log q - KL(p || q)) + p - q)
// where `target` is the smoothed distribution of training/loss/cross_entropy.h.
#pragma once

#include "data/batch_view.h"
#include "training/loss/loss_config.h"
#include "training/loss/token_losses.h"

namespace dragoman {

/// The batch twice. The second copy has other sentence numbers, so its dropout masks differ.
PackedBatch both_passes(const BatchView& batch);

/// The model's output and its targets, as projected_cross_entropy() takes them.
struct Predictions {
  torch::Tensor hidden;   ///< [passes * R, D], pass behind pass
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
