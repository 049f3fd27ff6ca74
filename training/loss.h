// Cross-entropy with label smoothing (section 5.4) of the output projection, in chunks of tokens:
// the gradients are formed as each chunk's logits exist, and logits are never kept whole.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace dragoman {

struct LossSums {
  torch::Tensor
      loss;  ///< scalar fp32: sum over tokens of the smoothed loss; backward() gives gradients
  double negative_log_likelihood;  ///< sum over tokens, without smoothing
};

/// hidden [N, D], weight [V, D], bias [V] or undefined, targets [N] int64, -1 for rows without one.
/// Gradients are formed
/// where grad mode is on; the weight's is summed in fp32.
LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 double label_smoothing, std::int64_t chunk_tokens = 512);

/// Per token: the smoothed loss and the negative log-likelihood [N] of logits [N, V], which are
/// replaced by the gradient. On the CPU our kernel, elsewhere plain tensor operations.
struct TokenLosses {
  torch::Tensor smoothed, negative_log_likelihood;
};
TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   double label_smoothing);
/// The same by plain tensor operations, for any device.
TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    double label_smoothing);

}  // namespace dragoman
