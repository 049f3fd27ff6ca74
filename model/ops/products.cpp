#include "model/ops/products.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include "base/cpu.h"
#include "model/ops/column_sums.h"
#include "model/ops/kernel_call.h"

namespace dragoman {

namespace {

/// LibTorch's `addmm` copies the bias to every row first; oneDNN's own layer, which has no public
/// C++ name, adds it on the way out.
torch::Tensor library_product(const torch::Tensor& x, const torch::Tensor& weight,
                              const torch::Tensor& bias) {
  using LinearPointwise = torch::Tensor(
      const torch::Tensor&, const torch::Tensor&, const OptionalTensor&, c10::string_view,
      torch::List<std::optional<at::Scalar>>, std::optional<c10::string_view>);
  static const auto layer =
      c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
  if (layer && cpu_features().bf16_is_faster && has_kernel_for(x) &&
      x.scalar_type() == torch::kBFloat16)
    return layer->typed<LinearPointwise>().call(
        x, weight, bias, "none", torch::List<std::optional<at::Scalar>>(), std::nullopt);
  return torch::addmm(bias, x, weight.t());
}

/// Sums of dy^T x in fp32. With a `gradient` they begin at `start` (undefined: zero), and are
/// written to it in its type. Without one they are added to `sums`.
void run_weight_gradient(const torch::Tensor& dy, const torch::Tensor& x, torch::Tensor& sums,
                         const torch::Tensor& gradient = {}, const torch::Tensor& start = {}) {
  const auto d_output = dy.contiguous(), input = x.contiguous();
  const std::int64_t count = divide_up(dy.size(1), kOutputBlock);
  run_rows(batch_kernels().weight_gradient, element_type(dy),
           WeightGradientArguments{d_output.const_data_ptr(), input.const_data_ptr(),
                                   sums.mutable_data_ptr<float>(),
                                   gradient.defined() ? gradient.mutable_data_ptr() : nullptr,
                                   start.defined() ? start.const_data_ptr<float>() : nullptr,
                                   dy.size(0), dy.size(1), x.size(1), /*add=*/!gradient.defined()},
           count, items_of_thread(count));
}

enum class Orientation { AsStored, Transposed };

torch::Tensor packed(const torch::Tensor& weight, Orientation orientation) {
  const bool transposed = orientation == Orientation::Transposed;
  const auto rows = weight.contiguous();
  const std::int64_t outputs = weight.size(transposed ? 1 : 0);
  const std::int64_t inputs = weight.size(transposed ? 0 : 1);
  auto result = torch::empty({packed_size(outputs, inputs)}, weight.options());
  const std::int64_t panels = divide_up(outputs, kProductPanel);
  run_rows(
      batch_kernels().pack_weights, element_type(weight),
      PackArguments{rows.const_data_ptr(), result.mutable_data_ptr(), inputs, outputs, transposed},
      panels, items_of_thread(panels));
  return result;
}

}  // namespace

bool has_own_products(torch::ScalarType type, torch::Device device) {
  return type == torch::kBFloat16 && runs_kernels_on(device) && !cpu_features().amx_bf16 &&
         batch_kernels().product[static_cast<int>(ElementType::BFloat16)];
}

bool is_own_product(const torch::Tensor& x) {
  return has_own_products(x.scalar_type(), x.device()) && x.size(0) > 0 && x.size(1) > 0;
}

torch::Tensor pack_weight(const torch::Tensor& weight) {
  return packed(weight, Orientation::AsStored);
}

torch::Tensor pack_transposed(const torch::Tensor& weight) {
  return packed(weight, Orientation::Transposed);
}

ProductArguments product_arguments(torch::Tensor& y, const torch::Tensor& x,
                                   const torch::Tensor& packed_weight, const torch::Tensor& bias) {
  return {x.const_data_ptr(),
          packed_weight.const_data_ptr(),
          bias.defined() ? bias.const_data_ptr() : nullptr,
          y.mutable_data_ptr(),
          x.size(1),
          y.size(1)};
}

torch::Tensor linear_product(const torch::Tensor& x, const torch::Tensor& weight,
                             const torch::Tensor& bias) {
  if (!is_own_product(x)) return library_product(x, weight, bias);
  auto y = torch::empty({x.size(0), weight.size(0)}, x.options());
  run_product(batch_kernels().product, product_arguments(y, x, pack_weight(weight), bias), x);
  return y;
}

torch::Tensor relu_product(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, const DropoutRule& dropout) {
  auto y = torch::empty({x.size(0), weight.size(0)}, x.options());
  run_product(batch_kernels().relu_product,
              ReluProductArguments{product_arguments(y, x, pack_weight(weight), bias), dropout}, x);
  return y;
}

torch::Tensor relu_gradient_product(const torch::Tensor& dy, const torch::Tensor& weight,
                                    const torch::Tensor& kept, float scale) {
  auto dx = torch::empty_like(kept);
  run_product(batch_kernels().relu_gradient_product,
              ReluGradientProductArguments{product_arguments(dx, dy, pack_transposed(weight), {}),
                                           kept.const_data_ptr(), scale},
              dy);
  return dx;
}

void linear_product_out(torch::Tensor& y, const torch::Tensor& x, const torch::Tensor& weight) {
  if (is_own_product(x))
    run_product(batch_kernels().product, product_arguments(y, x, pack_weight(weight), {}), x);
  else
    torch::mm_out(y, x, weight.t());
}

torch::Tensor input_gradient(const torch::Tensor& dy, const torch::Tensor& weight) {
  auto dx = torch::empty({dy.size(0), weight.size(1)}, dy.options());
  input_gradient_out(dx, dy, weight);
  return dx;
}

void input_gradient_out(torch::Tensor& dx, const torch::Tensor& dy, const torch::Tensor& weight) {
  if (is_own_product(dy))
    run_product(batch_kernels().product, product_arguments(dx, dy, pack_transposed(weight), {}),
                dy);
  else
    torch::mm_out(dx, dy, weight);
}

torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x) {
  return is_own_product(dy) ? weight_gradient(dy, x, {}) : torch::mm(dy.t(), x);
}

torch::Tensor weight_gradient(const torch::Tensor& dy, const torch::Tensor& x,
                              const torch::Tensor& start) {
  auto sums = torch::empty({dy.size(1), x.size(1)}, dy.options().dtype(torch::kFloat32));
  auto gradient = torch::empty(sums.sizes(), dy.options());
  run_weight_gradient(dy, x, sums, gradient, start);
  return gradient;
}

void add_weight_gradient(torch::Tensor& sums, const torch::Tensor& dy, const torch::Tensor& x) {
  if (is_own_product(dy))
    run_weight_gradient(dy, x, sums);
  else
    sums.add_(torch::mm(dy.t(), x));
}

torch::Tensor bias_gradient(const torch::Tensor& dy) {
  if (!has_kernel_for(dy)) {
    auto noted = take_column_sums(dy);
    return noted.defined() ? noted : dy.sum(0);
  }
  const auto rows = dy.contiguous();
  auto sums = torch::empty({dy.size(1)}, dy.options());
  run_rows(
      batch_kernels().column_sums, element_type(dy),
      ColumnSumsArguments{rows.const_data_ptr(), sums.mutable_data_ptr(), dy.size(0), dy.size(1)},
      divide_up(dy.size(1), kColumnBlock), 1);
  return sums;
}

}  // namespace dragoman
