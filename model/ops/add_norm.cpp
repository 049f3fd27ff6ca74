#include "model/ops/add_norm.h"

#include "base/divide_up.h"
#include "model/ops/kernel_call.h"

namespace dragoman {

NormalizedSum add_norm_reference(const AddNorm& norm, const torch::Tensor& x,
                                 const torch::Tensor& residual, const torch::Tensor& row_keys) {
  auto sum = dropout_reference(x, {norm.dropout, row_keys, x.size(0)});
  if (residual.defined()) sum = residual + sum;
  return {sum, torch::layer_norm(sum, {x.size(1)}, norm.gain, norm.bias, norm.epsilon)};
}

namespace {

/// [normalized, sum], or [normalized] where x is the sum.
struct AddNormFunction : torch::autograd::Function<AddNormFunction> {
  static variable_list forward(AutogradContext* context, const torch::Tensor& x,
                               const OptionalTensor& residual, const torch::Tensor& gain,
                               const torch::Tensor& bias, double epsilon, const DropoutMask& mask,
                               bool wants_gradients) {
    RECORD_USER_SCOPE("AddNormFunction");
    const auto input = x.contiguous();
    const auto added = residual ? residual->contiguous() : torch::Tensor();
    const auto y = torch::empty_like(input);
    const auto sum = residual || mask.drops() ? torch::empty_like(input) : torch::Tensor();
    auto statistics = wants_gradients
                          ? torch::empty({2, x.size(0)}, x.options().dtype(torch::kFloat32))
                          : torch::Tensor();
    float* means = wants_gradients ? statistics.mutable_data_ptr<float>() : nullptr;
    run_rows(
        batch_kernels().add_norm, element_type(input),
        NormArguments{input.const_data_ptr(), added.defined() ? added.const_data_ptr() : nullptr,
                      gain.const_data_ptr(), bias.const_data_ptr(),
                      sum.defined() ? sum.mutable_data_ptr() : nullptr, y.mutable_data_ptr(), means,
                      wants_gradients ? means + x.size(0) : nullptr, x.size(1),
                      static_cast<float>(epsilon), mask.rule()},
        x.size(0), kRowsPerTask);
    if (wants_gradients)
      context->save_for_backward({sum.defined() ? sum : input, statistics, gain});
    context->saved_data["residual"] = residual.has_value();
    context->set_materialize_grads(false);
    mask.save(context);
    return sum.defined() ? variable_list{y, sum} : variable_list{y};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto &sum = saved[0], &statistics = saved[1], &gain = saved[2];
    const auto mask = DropoutMask::saved(context);
    const auto dy = gradients[0].defined() ? gradients[0].contiguous() : torch::zeros_like(sum);
    const auto elsewhere = gradients.size() > 1 && gradients[1].defined()
                               ? gradients[1].contiguous()
                               : torch::Tensor();
    const std::int64_t rows = sum.size(0), columns = sum.size(1);
    auto d_sum = torch::empty_like(sum);
    auto d_x = mask.drops() ? torch::empty_like(sum) : d_sum;
    const std::int64_t parts = divide_up(rows, kRowsPerTask);
    auto d_parameters = torch::zeros({2, parts, columns}, statistics.options());
    float* d_gain = d_parameters.mutable_data_ptr<float>();
    const auto* means = statistics.const_data_ptr<float>();
    run_rows(batch_kernels().add_norm_gradient, element_type(sum),
             NormGradientArguments{
                 dy.const_data_ptr(), elsewhere.defined() ? elsewhere.const_data_ptr() : nullptr,
                 sum.const_data_ptr(), gain.const_data_ptr(), means, means + rows,
                 d_sum.mutable_data_ptr(), mask.drops() ? d_x.mutable_data_ptr() : nullptr, d_gain,
                 d_gain + parts * columns, kRowsPerTask, columns, mask.rule()},
             rows, kRowsPerTask);
    const auto totals = d_parameters.sum(1).to(gain.scalar_type());  // [2, D]
    const auto d_residual = context->saved_data["residual"].toBool() ? d_sum : torch::Tensor();
    return {d_x, d_residual, totals[0], totals[1], {}, {}, {}};
  }
};

}  // namespace

NormalizedSum AddNorm::apply(const torch::Tensor& x, const torch::Tensor& residual,
                             const torch::Tensor& row_keys) const {
  if (!has_kernel_for(x)) return add_norm_reference(*this, x, residual, row_keys);
  const auto results = AddNormFunction::apply(x, as_optional(residual), gain, bias, epsilon,
                                              DropoutMask(dropout, row_keys, x.size(0)),
                                              torch::GradMode::is_enabled());
  return {results.size() > 1 ? results[1] : x, results[0]};
}

}  // namespace dragoman
