#include "model/feed_forward.h"

#include "base/error.h"
#include "model/ops/feed_forward.h"
#include "model/ops/linear.h"

namespace dragoman {

namespace {

torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::Relu:
      return x.relu();
    case Activation::Gelu:
    case Activation::GatedGelu:
      return torch::gelu(x);
    case Activation::Swish:
    case Activation::GatedSwish:
      return torch::silu(x);
  }
  throw Error("unknown activation");
}

}  // namespace

FeedForwardImpl::FeedForwardImpl(const ModelConfig& config, std::uint32_t site)
    : inner(config.d_model, config.d_ff),
      outer(config.d_ff, config.d_model),
      activation(config.activation),
      dropout{config.activation_dropout, site} {
  register_module("inner", inner);
  if (is_gated(activation))
    gate = register_module("gate", torch::nn::Linear(config.d_model, config.d_ff));
  register_module("outer", outer);
}

torch::Tensor FeedForwardImpl::forward(const torch::Tensor& x, const torch::Tensor& row_keys) {
  if (activation == Activation::Relu) return relu_feed_forward(inner, outer, dropout, x, row_keys);
  const auto projected = linear(inner, x);
  const auto hidden =
      gate ? activate(linear(gate, x), activation) * projected : activate(projected, activation);
  return linear(outer, dropout.apply(hidden, row_keys));  // [N, F] -> [N, D]
}

}  // namespace dragoman
