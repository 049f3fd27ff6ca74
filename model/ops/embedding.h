// Embeddings, section 3.4: y_n = scale * weight[token_n], where the paper's scale is sqrt(d_model).
// The gradient of row v of the weight is scale times the sum of dy_n over all n with token_n = v.
#pragma once

#include <torch/types.h>

namespace dragoman {

/// tokens [N] int64, weight [V, D] -> [N, D]. Token -1 gives the zero vector. Throws
/// c10::IndexError on the CPU for a token outside of the vocabulary. Backward saves the tokens, and
/// sums in fp32.
torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale);
/// The same by plain tensor operations, for any device.
torch::Tensor embed_reference(const torch::Tensor& tokens, const torch::Tensor& weight,
                              double scale);

}  // namespace dragoman
