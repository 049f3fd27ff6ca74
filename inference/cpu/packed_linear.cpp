#include "inference/cpu/packed_linear.h"

#include <utility>

#include "kernels/linear_kernels.h"
#include "model/file/quantized_rows.h"

namespace dragoman {

PackedLinear::PackedLinear(std::span<const float> weights, std::span<const float> bias,
                           std::int64_t inputs, ComputeType type) {
  if (type == ComputeType::Int8) {
    const QuantizedRows rounded = quantize_rows(weights, inputs);
    *this = PackedLinear(rounded.whole, rounded.scales, bias, inputs);
    return;
  }
  inputs_ = inputs;
  outputs_ = static_cast<std::int64_t>(weights.size()) / inputs;
  const LinearKernels& kernels = linear_kernels();
  const auto padded = static_cast<std::size_t>(kernels.padded_outputs(outputs_));
  bias_.assign(bias.begin(), bias.end());
  bias_.resize(padded);
  floats_.resize(padded * static_cast<std::size_t>(inputs));
  kernels.pack_float(weights.data(), outputs_, inputs, floats_.data());
}

PackedLinear::PackedLinear(std::span<const std::int8_t> whole, std::span<const float> scales,
                           std::span<const float> bias, std::int64_t inputs)
    : inputs_(inputs),
      outputs_(static_cast<std::int64_t>(scales.size())),
      type_(ComputeType::Int8),
      weight_scales_(scales.begin(), scales.end()),
      bias_(bias.begin(), bias.end()) {
  const LinearKernels& kernels = linear_kernels();
  const auto padded = static_cast<std::size_t>(kernels.padded_outputs(outputs_));
  bias_.resize(padded);
  weight_scales_.resize(padded);
  offsets_.resize(padded);
  bytes_.resize(padded * static_cast<std::size_t>(LinearKernels::padded_inputs(inputs)));
  kernels.pack_int8(whole.data(), outputs_, inputs, bytes_.data(), offsets_.data());
}

void PackedLinear::run(const float* x, std::int64_t rows, float* y, LinearScratch& scratch,
                       bool relu) const {
  round(x, rows, scratch);
  multiply(x, rows, 0, outputs_, y, scratch, relu);
}

void PackedLinear::round(const float* x, std::int64_t rows, LinearScratch& scratch) const {
  if (type_ != ComputeType::Int8) return;
  const auto row_bytes = static_cast<std::size_t>(2 * LinearKernels::padded_inputs(inputs_));
  const auto count = static_cast<std::size_t>(rows);
  if (scratch.quantized.size() < count * row_bytes) scratch.quantized.resize(count * row_bytes);
  if (scratch.scales.size() < count) scratch.scales.resize(count);
  linear_kernels().quantize(x, rows, inputs_, scratch.quantized.data(), scratch.scales.data());
}

void PackedLinear::multiply(const float* x, std::int64_t rows, std::int64_t begin, std::int64_t end,
                            float* y, const LinearScratch& scratch, bool relu) const {
  const LinearKernels& kernels = linear_kernels();
  LinearArguments arguments{.x = x,
                            .x_scales = nullptr,
                            .weights = floats_.data() + begin * inputs_,
                            .weight_scales = nullptr,
                            .offsets = nullptr,
                            .bias = bias_.data() + begin,
                            .y = y,
                            .inputs = inputs_,
                            .outputs = end - begin,
                            .y_stride = end - begin,
                            .relu = relu};
  const std::int64_t panels = kernels.padded_outputs(end - begin) / kernels.panel;
  if (type_ != ComputeType::Int8) {
    kernels.linear_float(arguments, rows, 0, panels);
    return;
  }
  arguments.x = scratch.quantized.data();
  arguments.x_scales = scratch.scales.data();
  arguments.weights = bytes_.data() + begin * LinearKernels::padded_inputs(inputs_);
  arguments.weight_scales = weight_scales_.data() + begin;
  arguments.offsets = offsets_.data() + begin;
  kernels.linear_int8(arguments, rows, 0, panels);
}

}  // namespace dragoman
