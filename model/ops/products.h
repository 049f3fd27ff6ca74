// The matrix products of training: a linear layer y = x W^T + b [N, C] -> [N, D] and its gradients.
// They run on our kernels in bf16 if those are faster, else on LibTorch.
#pragma once

#include <ATen/Parallel.h>
#include <torch/types.h>

#include "base/threads.h"
#include "kernels/kernels.h"

namespace dragoman {

/// Whether our products are used in place of LibTorch's: in bf16 on a CPU that has dot products in
/// bf16 and no AMX, where ours are faster.
bool has_own_products(torch::ScalarType type, torch::Device device);
/// The same for a product with x [N, C] as its left factor; false if x is empty.
bool is_own_product(const torch::Tensor& x);

/// W [D, C] packed for the kernels, for x W^T.
torch::Tensor pack_weight(const torch::Tensor& weight);
/// The same for dy W.
torch::Tensor pack_transposed(const torch::Tensor& weight);

/// All tensors must be contiguous. The bias may be undefined.
ProductArguments product_arguments(torch::Tensor& y, const torch::Tensor& x,
                                   const torch::Tensor& packed_weight, const torch::Tensor& bias);

/// The number of items that each thread gets of `count` in all.
inline std::int64_t items_of_thread(std::int64_t count) {
  return divide_up<std::int64_t>(count, at::get_num_threads());
}

/// Runs one of the products on all rows of x, in bf16.
template <class Arguments>
void run_product(void (*const (&kernel)[2])(const Arguments&, std::int64_t, std::int64_t),
                 const Arguments& arguments, const torch::Tensor& x) {
  run_rows(kernel, ElementType::BFloat16, arguments, x.size(0), items_of_thread(x.size(0)));
}

/// x W^T + b. x [N, C], weight [D, C], bias [D] -> [N, D]. The bias must be defined.
torch::Tensor linear_product(const torch::Tensor& x, const torch::Tensor& weight,
                             const torch::Tensor& bias);
/// The same without b, into y [N, D].
void linear_product_out(torch::Tensor& y, const torch::Tensor& x, const torch::Tensor& weight);

/// dy W. dy [N, D], weight [D, C] -> [N, C].
torch::Tensor input_gradient(const torch::Tensor& dy, const torch::Tensor& weight);
void input_gradient_out(torch::Tensor& dx, const torch::Tensor& dy, const torch::Tensor& weight);

/// relu_product: dropout(relu(x W^T + b)). relu_gradient_product: the gradient with respect to the
/// result of relu_product, `kept` [N, C], passed back through dropout and relu: scale * dy W if
/// kept > 0, else 0. dy [N, D], weight [D, C] -> [N, C]. Only if is_own_product().
torch::Tensor relu_product(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, const DropoutRule& dropout);
torch::Tensor relu_gradient_product(const torch::Tensor& dy, const torch::Tensor& weight,
                                    const torch::Tensor& kept, float scale);

/// dy^T x, summed in fp32. dy [N, D], x [N, C] -> [D, C].
torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x);
/// The same plus `start` [C] (fp32; undefined: zero), which is added to each of the D rows. Only
/// if is_own_product().
torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x,
                              const torch::Tensor& start);
/// The same added to `sums`, fp32.
void add_weight_gradient(torch::Tensor& sums, const torch::Tensor& dy, const torch::Tensor& x);

/// The sum of dy's rows, in dy's type; added up in fp32. [N, D] -> [D].
torch::Tensor bias_gradient(const torch::Tensor& dy);

}  // namespace dragoman
