#include "model/ops/feed_forward.h"

#include "model/ops/kernel_call.h"
#include "model/ops/linear.h"
#include "model/ops/products.h"

namespace dragoman {

torch::Tensor relu_feed_forward_reference(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                          const Dropout& dropout, const torch::Tensor& x,
                                          const torch::Tensor& row_keys) {
  const auto hidden = torch::linear(x, inner->weight, inner->bias).relu();
  const auto kept = dropout_reference(hidden, {dropout, row_keys, x.size(0)});
  return torch::linear(kept, outer->weight, outer->bias);
}

namespace {

/// For our own products, which apply bias, ReLU and dropout while they have the sums in registers.
struct FeedForwardFunction : torch::autograd::Function<FeedForwardFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& inner_weight, const torch::Tensor& inner_bias,
                               const torch::Tensor& outer_weight, const torch::Tensor& outer_bias,
                               const DropoutMask& mask) {
    RECORD_USER_SCOPE("FeedForwardFunction");
    const auto input = x.contiguous();
    const auto hidden = relu_product(input, inner_weight, inner_bias, mask.rule());
    context->save_for_backward({input, inner_weight, outer_weight, hidden});
    context->saved_data["scale"] = static_cast<double>(mask.rule().scale());
    return linear_product(hidden, outer_weight, outer_bias);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &input = saved[0], &inner_weight = saved[1], &outer_weight = saved[2],
               &hidden = saved[3];
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    const auto dy = gradients[0].contiguous();
    const auto d_hidden = relu_gradient_product(dy, outer_weight, hidden, scale);
    return {input_gradient(d_hidden, inner_weight),
            weight_gradient(d_hidden, input),
            bias_gradient(d_hidden),
            weight_gradient(dy, hidden),
            bias_gradient(dy),
            {}};
  }
};

}  // namespace

torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys) {
  if (!is_own_product(x)) return linear(outer, dropout.relu(linear(inner, x), row_keys));
  return FeedForwardFunction::apply(x, inner->weight, inner->bias, outer->weight, outer->bias,
                                    DropoutMask(dropout, row_keys, x.size(0)));
}

}  // namespace dragoman
