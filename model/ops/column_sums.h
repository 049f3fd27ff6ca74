// Gradients of biases on a GPU. They are the sums over the rows of the gradient dy [N, D] of a
// linear layer's output. The kernels that write dy (kernels/cuda/add_norm.h, column_sums.h) make
// these sums on the way, which spares a pass over dy.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace dragoman {

/// The sums over all stretches of rows, in one order: [M, stretches, D] fp32 -> [M, D] of `type`.
torch::Tensor sums_of_stretches(const torch::Tensor& stretches, torch::ScalarType type);

/// Notes the sums of dy's rows [D] until this thread notes others. A backward pass computes the
/// gradient of a linear layer right after that of the layer after it, so one note is enough.
void note_column_sums(const torch::Tensor& dy, torch::Tensor sums);
/// The sums that were noted for this very tensor, if it has not changed since; otherwise undefined.
/// They are forgotten.
torch::Tensor take_column_sums(const torch::Tensor& dy);

/// The parts of x [N, parts * D], [N, D] each, without a copy. If there is a kernel, its backward
/// pass joins the gradients and notes the sums of their columns.
std::vector<torch::Tensor> split_columns(const torch::Tensor& x, std::int64_t parts);

/// Gradient of dropout(relu(x)) [N, C] on a GPU: dy times `scale` for elements that were `kept`
/// (relu_dropout_on_cuda(), model/ops/dropout.h), else 0. Overwrites dy, and notes the sums of its
/// columns.
void relu_dropout_gradient_on_cuda(torch::Tensor& dy, const torch::Tensor& kept, float scale);

}  // namespace dragoman
