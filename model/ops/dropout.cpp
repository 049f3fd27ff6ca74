#include "model/ops/dropout.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/threads.h"
#include "kernels/cuda/dropout.h"
#include "model/ops/cuda_kernels.h"
#include "model/ops/kernel_call.h"

namespace dragoman {

torch::Tensor dropout_reference(const torch::Tensor& x, const DropoutMask& mask) {
  if (!mask.drops()) return x;
  return x * mask.factors(x.size(1)).to(x.scalar_type());
}

DropoutMask::DropoutMask(const Dropout& dropout, const torch::Tensor& row_keys,
                         std::int64_t queries, std::int64_t heads)
    : row_keys_(dropout.threshold() > 0 ? row_keys : torch::Tensor()),
      site_(dropout.site),
      threshold_(dropout.threshold()),
      queries_(queries),
      heads_(heads) {}

DropoutRule DropoutMask::rule() const {
  if (!drops()) return {.heads = heads_, .queries = queries_};
  return {.row_keys = row_keys_.const_data_ptr<std::int32_t>(),
          .site = site_,
          .threshold = threshold_,
          .heads = heads_,
          .queries = queries_};
}

torch::Tensor DropoutMask::factors(std::int64_t columns) const {
  constexpr std::int64_t kMask = 0xFFFFFFFF;
  constexpr std::int64_t kFirst = dropout_hash::kFirstFactor, kSecond = dropout_hash::kSecondFactor;
  constexpr std::int64_t kOfHead = dropout_hash::kOfHead, kOfColumns = dropout_hash::kOfColumns;
  const auto hash = [](torch::Tensor x) {
    x = x.bitwise_xor(x.bitwise_right_shift(16)).mul(kFirst).bitwise_and(kMask);
    x = x.bitwise_xor(x.bitwise_right_shift(15)).mul(kSecond).bitwise_and(kMask);
    return x.bitwise_xor(x.bitwise_right_shift(16));
  };
  const std::int64_t site = site_ * dropout_hash::kOfSite;
  const auto options = row_keys_.options().dtype(torch::kInt64);
  const auto token_keys = hash(row_keys_.to(torch::kInt64).bitwise_and(kMask).bitwise_xor(site));
  const auto head_keys = torch::arange(heads_, options).mul(kOfHead).bitwise_and(kMask);
  const auto keys =
      token_keys.view({-1, 1, queries_}).add(head_keys.view({1, heads_, 1}));  // [B, H, T]
  const auto counters = torch::arange(divide_up<std::int64_t>(columns, 4), options).mul(kOfColumns);
  const auto bits = hash(keys.reshape({-1, 1}).add(counters).bitwise_and(kMask));  // [B*H*T, C/4]
  const auto bytes = bits.to(torch::kInt32).view(torch::kUInt8).narrow(1, 0, columns);
  const double kept_scale = 256.0 / (256.0 - threshold_);
  return bytes.ge(static_cast<std::int64_t>(threshold_)).to(torch::kFloat32).mul(kept_scale);
}

void DropoutMask::save(AutogradContext* context) const {
  context->saved_data["row_keys"] = row_keys_;
  context->saved_data["mask"] = std::vector<std::int64_t>{site_, threshold_, queries_, heads_};
}

DropoutMask DropoutMask::saved(AutogradContext* context) {
  const auto numbers = context->saved_data["mask"].toIntVector();
  DropoutMask mask({}, {}, numbers[2], numbers[3]);
  mask.row_keys_ = context->saved_data["row_keys"].toTensor();
  mask.site_ = static_cast<std::uint32_t>(numbers[0]);
  mask.threshold_ = static_cast<std::uint32_t>(numbers[1]);
  return mask;
}

namespace {

bool has_dropout_kernel_for(const torch::Tensor& x) {
  return has_kernel_for(x) || has_cuda_kernel_for(x);
}

/// y = residual + dropout(x), or with `kept` dropout(relu(x)); y may be x. Residual and `kept` may
/// be undefined.
void run_on_cuda(const torch::Tensor& x, const torch::Tensor& residual, const DropoutRule& rule,
                 torch::Tensor& y, torch::Tensor kept = {}) {
  const std::int64_t rows = x.size(0), columns = x.size(1);
  const CudaDropout arguments{
      .x = x.const_data_ptr(),
      .residual = residual.defined() ? residual.const_data_ptr() : nullptr,
      .y = y.mutable_data_ptr(),
      .kept = kept.defined() ? kept.mutable_data_ptr<std::uint8_t>() : nullptr,
      .rows = static_cast<unsigned>(rows),
      .columns = static_cast<unsigned>(columns),
      .relu = kept.defined(),
      .rule = on_cuda(rule)};
  launch_cuda_kernel("dropout", x, blocks_of(rows * divide_up<std::int64_t>(columns, kCudaColumns)),
                     &arguments);
}

torch::Tensor run_dropout(const torch::Tensor& x, const torch::Tensor& residual,
                          const DropoutRule& rule) {
  auto y = torch::empty_like(x);
  if (x.is_cuda()) {
    run_on_cuda(x, residual, rule, y);
    return y;
  }
  run_rows(
      batch_kernels().dropout, element_type(x),
      DropoutArguments{x.const_data_ptr(), residual.defined() ? residual.const_data_ptr() : nullptr,
                       y.mutable_data_ptr(), x.size(1), rule},
      x.size(0), kRowsPerTask);
  return y;
}

/// residual + dropout(x); an undefined residual counts as zero.
struct DropoutFunction : torch::autograd::Function<DropoutFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const OptionalTensor& residual, const DropoutMask& mask) {
    RECORD_USER_SCOPE("DropoutFunction");
    context->saved_data["residual"] = residual.has_value();
    mask.save(context);
    return run_dropout(x.contiguous(), residual ? residual->contiguous() : torch::Tensor(),
                       mask.rule());
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto dy = gradients[0].contiguous();
    const bool residual = context->saved_data["residual"].toBool();
    return {run_dropout(dy, {}, DropoutMask::saved(context).rule()),
            residual ? dy : torch::Tensor(),
            {}};
  }
};

struct ReluDropoutFunction : torch::autograd::Function<ReluDropoutFunction> {
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& x,
                               const DropoutMask& mask) {
    RECORD_USER_SCOPE("ReluDropoutFunction");
    const auto input = x.contiguous();
    auto y = torch::empty_like(input);
    run_rows(batch_kernels().relu_dropout, element_type(input),
             ReluDropoutArguments{input.const_data_ptr(), y.mutable_data_ptr(), input.size(1),
                                  mask.rule()},
             input.size(0), kRowsPerTask);
    context->save_for_backward({y});
    context->saved_data["scale"] = static_cast<double>(mask.rule().scale());
    return y;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto y = context->get_saved_variables()[0], dy = gradients[0].contiguous();
    const auto scale = static_cast<float>(context->saved_data["scale"].toDouble());
    auto dx = torch::empty_like(dy);
    run_rows(batch_kernels().relu_dropout_gradient, element_type(y),
             ReluDropoutGradientArguments{y.const_data_ptr(), dy.const_data_ptr(),
                                          dx.mutable_data_ptr(), y.size(1), scale},
             y.size(0), kRowsPerTask);
    return {dx, {}};
  }
};

}  // namespace

std::uint32_t Dropout::threshold() const {
  return static_cast<std::uint32_t>(std::min(std::lround(rate * 256), 255L));
}

torch::Tensor drop(const torch::Tensor& x, const DropoutMask& mask) {
  if (!mask.drops() || !has_dropout_kernel_for(x)) return dropout_reference(x, mask);
  return DropoutFunction::apply(x, OptionalTensor(), mask);
}

torch::Tensor Dropout::apply(const torch::Tensor& x, const torch::Tensor& row_keys) const {
  return drop(x, {*this, row_keys, x.size(0)});
}

torch::Tensor Dropout::add(const torch::Tensor& x, const torch::Tensor& residual,
                           const torch::Tensor& row_keys) const {
  const DropoutMask mask(*this, row_keys, x.size(0));
  if (!mask.drops() || !has_dropout_kernel_for(x)) return residual + dropout_reference(x, mask);
  return DropoutFunction::apply(x, as_optional(residual), mask);
}

torch::Tensor Dropout::relu(const torch::Tensor& x, const torch::Tensor& row_keys) const {
  const DropoutMask mask(*this, row_keys, x.size(0));
  return has_kernel_for(x) ? ReluDropoutFunction::apply(x, mask) : drop(x.relu(), mask);
}

torch::Tensor relu_dropout_on_cuda(torch::Tensor& x, const DropoutRule& rule) {
  const auto bytes = divide_up<std::int64_t>(x.size(1), 8);
  const auto kept = torch::empty({x.size(0), bytes}, x.options().dtype(torch::kUInt8));
  run_on_cuda(x, {}, rule, x, kept);
  return kept;
}

}  // namespace dragoman
