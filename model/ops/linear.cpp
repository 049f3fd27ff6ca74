#include "model/ops/linear.h"

#include <cstdint>
#include <vector>

#include "model/ops/kernel_call.h"
#include "model/ops/products.h"

namespace dragoman {

torch::Tensor joined_linear_reference(const torch::Tensor& x, at::TensorList weights,
                                      at::TensorList biases) {
  std::vector<torch::Tensor> outputs;
  for (std::size_t i = 0; i < weights.size(); ++i)
    outputs.push_back(torch::matmul(x, weights[i].t()) + biases[i]);
  return torch::cat(outputs, 1);
}

namespace {

/// One matrix or vector of those that lie behind each other in memory, else a copy.
torch::Tensor join_views(at::TensorList parts) {
  const char* end = static_cast<const char*>(parts[0].const_data_ptr());
  std::int64_t rows = 0;
  bool adjacent = true;
  for (const torch::Tensor& part : parts) {
    adjacent = adjacent && part.const_data_ptr() == end && part.is_alias_of(parts[0]);
    end += part.nbytes();
    rows += part.size(0);
  }
  if (!adjacent) return torch::cat(parts);
  auto sizes = parts[0].sizes().vec();
  sizes[0] = rows;
  return parts[0].as_strided(sizes, parts[0].strides());
}

struct JoinedLinearFunction : torch::autograd::Function<JoinedLinearFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               at::TensorList weights, at::TensorList biases) {
    RECORD_USER_SCOPE("JoinedLinearFunction");
    const auto weight = join_views(weights);
    const auto input = x.contiguous();
    context->save_for_backward({input, weight});
    std::vector<std::int64_t> rows;
    for (const torch::Tensor& part : weights) rows.push_back(part.size(0));
    context->saved_data["rows"] = rows;
    return linear_product(input, weight, join_views(biases));
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto dy = gradients[0].contiguous();
    const auto rows = context->saved_data["rows"].toIntVector();
    variable_list result = {input_gradient(dy, saved[1])};
    for (const auto& whole : {weight_gradient(dy, saved[0]), bias_gradient(dy)})
      for (const torch::Tensor& part : whole.split_with_sizes(rows, 0)) result.push_back(part);
    return result;
  }
};

}  // namespace

torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases) {
  return JoinedLinearFunction::apply(x, weights, biases);
}

torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x) {
  return joined_linear(x, {layer->weight}, {layer->bias});
}

}  // namespace dragoman
