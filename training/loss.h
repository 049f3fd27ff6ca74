// Cross-entropy with label smoothing (section 5.4) of the output projection, in chunks of tokens:
// the gradients are formed as each chunk's logits exist, and logits are never kept whole. With
// R-Drop (Wu et al. 2021) a chunk holds the logits that two passes gave its tokens.
#pragma once

#include <torch/types.h>

#include "training/loss_config.h"

namespace dragoman {

struct LossSums {
  torch::Tensor objective;         ///< scalar fp32, over all tokens; backward() gives gradients
  double smoothed;                 ///< cross-entropy with smoothing, the mean of the passes
  double negative_log_likelihood;  ///< the same without smoothing
};

/// hidden [N, D], weight [V, D], bias [V] or undefined, targets [N] int64, -1 for rows without one;
/// with R-Drop hidden is [2N, D], row N + n the second pass of row n. Gradients are formed where
/// grad mode is on; the weight's is summed in fp32 over chunks.
LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 const LossConfig& config);

/// Of `tokens` tokens those whose logits exist at once: the chunks are of one size, and as few as
/// the configuration allows.
std::int64_t chunk_size(const LossConfig& config, std::int64_t tokens, std::int64_t vocabulary);

/// Per token [N]: what is minimised, the smoothed loss and the negative log-likelihood of logits
/// [N, V], which are replaced by the gradient. On the CPU our kernels, elsewhere plain tensor
/// operations.
struct TokenLosses {
  torch::Tensor objective, smoothed, negative_log_likelihood;
};
TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   const LossConfig& config);
TokenLosses r_drop_in_place(torch::Tensor& first, torch::Tensor& second,
                            const torch::Tensor& targets, const LossConfig& config);
/// The same by plain tensor operations, for any device.
TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    const LossConfig& config);
TokenLosses r_drop_reference(torch::Tensor& first, torch::Tensor& second,
                             const torch::Tensor& targets, const LossConfig& config);

}  // namespace dragoman
