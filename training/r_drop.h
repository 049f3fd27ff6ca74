// R-Drop (Wu et al. 2021): two passes with different dropout predict p and q for each token, and
// the divergence between them is minimised with their cross-entropies CE. For each token
//   objective = (CE(p) + CE(q)) / 2 + alpha / 2 * (KL(p || q) + KL(q || p)) / 2
// with KL(p || q) = sum_v p_v (log p_v - log q_v). That is half the paper's objective: learning
// rate and clipping keep their meaning. With respect to the logits of p (of q it is the same turned
// round)
//   gradient = (p - target) / 2 + alpha / 4 * (p (log p - log q - KL(p || q)) + p - q)
// where `target` is the smoothed distribution of training/cross_entropy.h.
#pragma once

#include "data/batch_view.h"
#include "training/loss_config.h"
#include "training/token_losses.h"

namespace dragoman {

/// The batch and, behind it, the same under other sentence numbers: other ones of dropout.
PackedBatch both_passes(const BatchView& batch);

/// Of the model's output for both passes.
struct Predictions {
  torch::Tensor hidden, targets;
};
/// hidden [2R, D] and targets of both_passes(), whose passes have `tokens` target tokens each: the
/// passes, each of R rows, behind each other; and the targets [R] of both.
Predictions passes_apart(const torch::Tensor& hidden, const torch::Tensor& targets,
                         std::int64_t tokens);

/// Of the logits [N, V] that two passes gave the same tokens. Both are replaced by their gradients.
/// The other losses are means of the passes. targets [N] int64, -1 for rows without one. On the CPU
/// our kernel, elsewhere the reference.
TokenLosses r_drop_in_place(torch::Tensor& first, torch::Tensor& second,
                            const torch::Tensor& targets, const LossConfig& config);
/// The same by plain tensor operations, for any device.
TokenLosses r_drop_reference(torch::Tensor& first, torch::Tensor& second,
                             const torch::Tensor& targets, const LossConfig& config);

}  // namespace dragoman
