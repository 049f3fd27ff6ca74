// The products of training: a linear layer y = x W^T + b [N, C] -> [N, D] and its gradients. In
// bf16 by our kernels where they are the faster ones, else by LibTorch.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "kernels/kernels.h"

namespace dragoman {

/// Whether our products are the faster ones: in bf16, but not beside AMX.
bool has_products(torch::ScalarType type, torch::Device device);
/// For x [N, C]; not of nothing.
bool has_product(const torch::Tensor& x);

/// W [D, C] as the kernels want it: for x W^T, or for dy W where `transposed`.
torch::Tensor packed(const torch::Tensor& weight, bool transposed);

/// All contiguous; bias may be undefined.
ProductArguments product_arguments(torch::Tensor& y, const torch::Tensor& x,
                                   const torch::Tensor& packed_weight, const torch::Tensor& bias);

/// Of `count`, for each of the threads.
inline std::int64_t part_of_thread(std::int64_t count) {
  const std::int64_t threads = at::get_num_threads();
  return (count + threads - 1) / threads;
}

/// One of the products on all rows of x, in bf16.
template <class Arguments>
void run_product(void (*const (&kernel)[2])(const Arguments&, std::int64_t, std::int64_t),
                 const Arguments& arguments, const torch::Tensor& x) {
  run_rows(kernel, ElementType::BFloat16, arguments, x.size(0), part_of_thread(x.size(0)));
}

/// x W^T + b; b may be undefined. x [N, C], weight [D, C] -> [N, D].
torch::Tensor linear_product(const torch::Tensor& x, const torch::Tensor& weight,
                             const torch::Tensor& bias);
/// The same without b, into y [N, D].
void linear_product_out(torch::Tensor& y, const torch::Tensor& x, const torch::Tensor& weight);

/// dy W. dy [N, D], weight [D, C] -> [N, C].
torch::Tensor input_gradient(const torch::Tensor& dy, const torch::Tensor& weight);
void input_gradient_out(torch::Tensor& dx, const torch::Tensor& dy, const torch::Tensor& weight);

/// Where there is a product of ours: dropout(relu(x W^T + b)), and the gradient with respect to
/// that function's input, dy W through dropout and relu, whose output was `kept` [N, C].
torch::Tensor relu_product(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, const DropoutSite& dropout);
torch::Tensor relu_gradient_product(const torch::Tensor& dy, const torch::Tensor& weight,
                                    const torch::Tensor& kept, float scale);

/// dy^T x, summed in fp32. dy [N, D], x [N, C] -> [D, C].
torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x);
/// The same, each row of [D, C] from `start` [C], fp32, on: where there is a product of ours.
torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x,
                              const torch::Tensor& start);
/// The same added to `sums`, fp32.
void add_weight_gradient(torch::Tensor& sums, const torch::Tensor& dy, const torch::Tensor& x);

/// The sum of dy's rows, in fp32. [N, D] -> [D].
torch::Tensor bias_gradient(const torch::Tensor& dy);

}  // namespace dragoman
