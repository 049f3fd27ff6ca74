// "Add & Norm" behind each sub-layer of figure 1: LayerNorm(residual + dropout(x)), section 3.1,
// with the layer normalisation of Ba et al. (2016):
//   LayerNorm(s) = (s - mean(s)) / sqrt(variance(s) + epsilon) * gain + bias, for each row s.
#pragma once

#include <torch/types.h>

#include "model/ops/dropout.h"

namespace dragoman {

struct NormalizedSum {
  torch::Tensor sum, normalized;  // [N, D]
};

/// The sum residual + dropout(x) and its layer normalisation. gain, bias [D]. The forward pass and
/// the backward pass are one pass of a kernel over the rows each. Backward saves the sum, and mean
/// and inverse deviation of each row.
struct AddNorm {
  const torch::Tensor& gain;
  const torch::Tensor& bias;
  double epsilon;
  Dropout dropout;

  /// x, residual [N, D]. An undefined residual counts as zero.
  NormalizedSum apply(const torch::Tensor& x, const torch::Tensor& residual,
                      const torch::Tensor& row_keys) const;
};
/// The same by plain tensor operations, for any device.
NormalizedSum add_norm_reference(const AddNorm& norm, const torch::Tensor& x,
                                 const torch::Tensor& residual, const torch::Tensor& row_keys);

}  // namespace dragoman
