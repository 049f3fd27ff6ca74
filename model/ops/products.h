// The matrix products of training: a linear layer y = x W^T + b [N, C] -> [N, D] and its gradients.
// They run on our kernels in bf16 where those are faster, else on LibTorch.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "kernels/kernels.h"

namespace dragoman {

/// Whether our products are faster than LibTorch's: in bf16 on a CPU without AMX.
bool has_products(torch::ScalarType type, torch::Device device);
/// The same for x [N, C]; false where x is empty.
bool has_product(const torch::Tensor& x);

/// W [D, C] packed for the kernels: for x W^T, or, where `transposed`, for dy W.
torch::Tensor packed(const torch::Tensor& weight, bool transposed);

/// All tensors must be contiguous. The bias may be undefined.
ProductArguments product_arguments(torch::Tensor& y, const torch::Tensor& x,
                                   const torch::Tensor& packed_weight, const torch::Tensor& bias);

/// The part of `count` items that each thread gets.
inline std::int64_t part_of_thread(std::int64_t count) {
  const std::int64_t threads = at::get_num_threads();
  return (count + threads - 1) / threads;
}

/// Runs one of the products on all rows of x, in bf16.
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

/// dropout(relu(x W^T + b)), and the gradient with respect to the input of that function: dy W
/// through dropout and relu, whose output was `kept` [N, C]. Only where has_product().
torch::Tensor relu_product(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, const DropoutSite& dropout);
torch::Tensor relu_gradient_product(const torch::Tensor& dy, const torch::Tensor& weight,
                                    const torch::Tensor& kept, float scale);

/// dy^T x, summed in fp32. dy [N, D], x [N, C] -> [D, C].
torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x);
/// The same, with each row of [D, C] summed on from `start` [C], fp32. Only where has_product().
torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x,
                              const torch::Tensor& start);
/// The same added to `sums`, fp32.
void add_weight_gradient(torch::Tensor& sums, const torch::Tensor& dy, const torch::Tensor& x);

/// The sum of dy's rows, in fp32. [N, D] -> [D].
torch::Tensor bias_gradient(const torch::Tensor& dy);

}  // namespace dragoman
