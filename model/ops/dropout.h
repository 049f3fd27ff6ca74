// Dropout, section 5.4: y = x * mask / (1 - rate). An element of the mask is 0 with probability
// `rate`, else 1. The backward pass is dx = dy * mask / (1 - rate).
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "kernels/kernels.h"

namespace torch::autograd {
struct AutogradContext;
}

namespace dragoman {

/// One dropout layer of the model. The rate is rounded to 256ths, at most 255. Tensors for which
/// there is no kernel (has_kernel_for(), has_cuda_kernel_for()) are computed by plain tensor
/// operations.
struct Dropout {
  double rate = 0;
  std::uint32_t site = 0;  ///< distinct for every dropout of the model

  std::uint32_t threshold() const;  ///< the rate in 256ths
  /// dropout(x), x [N, C]. row_keys [N] int32 are random numbers, one for each token. The mask is a
  /// function of them, so it does not depend on the row that the token has. Returns x itself if
  /// row_keys is undefined or the rate is 0.
  torch::Tensor apply(const torch::Tensor& x, const torch::Tensor& row_keys) const;
  /// residual + dropout(x).
  torch::Tensor add(const torch::Tensor& x, const torch::Tensor& residual,
                    const torch::Tensor& row_keys) const;
  /// dropout(relu(x)). The kernel's backward saves only the output, which is above 0 exactly for
  /// the elements that both let through.
  torch::Tensor relu(const torch::Tensor& x, const torch::Tensor& row_keys) const;
};

/// The mask of a dropout in one pass, over rows of B sentences, H heads and T queries. It is a pure
/// function of the token's row key, the site, the head and the column (kernels/kernels.h). So it is
/// the same for any batch and device, and a backward pass saves these numbers instead of a mask.
class DropoutMask {
 public:
  /// row_keys [B*T] int32, one for each token. Nothing is dropped if they are undefined. For
  /// the rows of linear layers, T = N, and there is one head.
  DropoutMask(const Dropout& dropout, const torch::Tensor& row_keys, std::int64_t queries,
              std::int64_t heads = 1);

  bool drops() const { return row_keys_.defined(); }
  std::int64_t heads() const { return heads_; }
  /// The mask as the kernels take it; valid as long as this object.
  DropoutRule rule() const;
  /// By plain tensor operations: mask / (1 - rate), fp32 [B*H*T, columns]. Row (b * H + h) * T + t
  /// belongs to head h of query t.
  torch::Tensor factors(std::int64_t columns) const;

  void save(torch::autograd::AutogradContext* context) const;
  static DropoutMask saved(torch::autograd::AutogradContext* context);

 private:
  torch::Tensor row_keys_;
  std::uint32_t site_, threshold_;
  std::int64_t queries_, heads_;
};

/// dropout(relu(x)) by our kernel for GPUs, x [N, C], which is overwritten. Returns a bit for each
/// element that both let through, for relu_dropout_gradient_on_cuda() (model/ops/column_sums.h):
/// [N, C / 8 rounded up] uint8.
torch::Tensor relu_dropout_on_cuda(torch::Tensor& x, const DropoutRule& rule);

/// dropout(x), x [B*H*T, C].
torch::Tensor drop(const torch::Tensor& x, const DropoutMask& mask);
/// The same by plain tensor operations, for any device.
torch::Tensor dropout_reference(const torch::Tensor& x, const DropoutMask& mask);

}  // namespace dragoman
