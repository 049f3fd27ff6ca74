#include "inference/cpu/packed_linear.h"

#include <functional>
#include <utility>

#include "kernels/inference_kernels.h"
#include "model/file/quantized_rows.h"

namespace dragoman {

namespace {

/// With this many bytes of weights or more, two threads are faster than one, though they wait for
/// each other. Up to kRowsPerRead rows a product takes the time to read its weights; beyond that,
/// its time grows with the rows.
constexpr std::int64_t kWorthHelp = 1 << 19, kRowsPerRead = 8;

/// The number of tasks into which a product is divided. A long product has more tasks than threads,
/// since one thread may be slow.
std::int64_t tasks_of(const HelperTeam* helpers, std::int64_t bytes, std::int64_t rows,
                      std::int64_t panels) {
  const std::int64_t cost = bytes * std::max(rows, kRowsPerRead) / kRowsPerRead;
  const auto threads = helpers == nullptr ? 1 : static_cast<std::int64_t>(helpers->size());
  if (threads == 1 || cost < kWorthHelp) return 1;
  return std::min(std::clamp(cost / kWorthHelp, threads, 4 * threads), panels);
}

}  // namespace

PackedLinear::PackedLinear(std::span<const float> weights, std::span<const float> bias,
                           std::int64_t inputs, ComputeType type) {
  if (type == ComputeType::Int8) {
    const QuantizedRows rounded = quantize_rows(weights, inputs);
    *this = PackedLinear(rounded.whole, rounded.scales, bias, inputs);
    return;
  }
  type_ = number_type(type);
  inputs_ = inputs;
  outputs_ = static_cast<std::int64_t>(weights.size()) / inputs;
  const InferenceKernels& kernels = inference_kernels();
  const auto padded = static_cast<std::size_t>(kernels.padded_outputs(outputs_));
  bias_.assign(bias.begin(), bias.end());
  bias_.resize(padded);
  if (type_ == NumberType::BFloat16) {
    halves_.resize(padded * static_cast<std::size_t>(InferenceKernels::padded_inputs(inputs)));
    kernels.pack_bf16(weights.data(), outputs_, inputs, halves_.data());
    return;
  }
  floats_.resize(padded * static_cast<std::size_t>(inputs));
  kernels.pack_float(weights.data(), outputs_, inputs, floats_.data());
}

PackedLinear::PackedLinear(std::span<const std::int8_t> whole, std::span<const float> scales,
                           std::span<const float> bias, std::int64_t inputs)
    : inputs_(inputs),
      outputs_(static_cast<std::int64_t>(scales.size())),
      type_(NumberType::Int8),
      weight_scales_(scales.begin(), scales.end()),
      bias_(bias.begin(), bias.end()) {
  const InferenceKernels& kernels = inference_kernels();
  const auto padded = static_cast<std::size_t>(kernels.padded_outputs(outputs_));
  bias_.resize(padded);
  weight_scales_.resize(padded);
  offsets_.resize(padded);
  bytes_.resize(padded * static_cast<std::size_t>(InferenceKernels::padded_inputs(inputs)));
  kernels.pack_int8(whole.data(), outputs_, inputs, bytes_.data(), offsets_.data());
}

void PackedLinear::run(const float* x, std::int64_t rows, float* y, LinearScratch& scratch,
                       bool relu) const {
  round(x, rows, scratch);
  multiply({.x = x, .count = rows, .y = y}, 0, outputs_, scratch, relu);
}

void PackedLinear::add_weights(std::int64_t output, float factor, float* y) const {
  if (type_ == NumberType::Int8) factor *= weight_scales_[static_cast<std::size_t>(output)];
  inference_kernels().add_weights[static_cast<std::size_t>(type_)](packed(0), inputs_, output,
                                                                   factor, y);
}

/// The packed weights from the panel on that begins with `first_output`.
const void* PackedLinear::packed(std::int64_t first_output) const {
  const std::int64_t padded = InferenceKernels::padded_inputs(inputs_);
  switch (type_) {
    case NumberType::Float32:
      return floats_.data() + first_output * inputs_;
    case NumberType::BFloat16:
      return halves_.data() + first_output * padded;
    case NumberType::Int8:
      break;
  }
  return bytes_.data() + first_output * padded;
}

void PackedLinear::round(const float* x, std::int64_t rows, LinearScratch& scratch) const {
  if (type_ == NumberType::Float32) return;
  grow(scratch.rounded, rows * 4 * InferenceKernels::padded_inputs(inputs_));
  if (type_ == NumberType::BFloat16) {
    inference_kernels().round_bf16(x, rows, inputs_, scratch.rounded.data());
    return;
  }
  grow(scratch.scales, rows);
  inference_kernels().quantize(x, rows, inputs_, scratch.rounded.data(), scratch.scales.data());
}

void PackedLinear::multiply(const LinearRows& rows, std::int64_t begin, std::int64_t end,
                            const LinearScratch& scratch, bool relu) const {
  LinearArguments arguments{.x = rows.x,
                            .x_scales = nullptr,
                            .weights = packed(begin),
                            .weight_scales = nullptr,
                            .offsets = nullptr,
                            .bias = bias_.data() + begin,
                            .y = rows.y,
                            .inputs = inputs_,
                            .outputs = end - begin,
                            .y_stride = end - begin,
                            .relu = relu};
  const InferenceKernels& kernels = inference_kernels();
  const std::int64_t panels = kernels.padded_outputs(end - begin) / kernels.panel;
  if (type_ != NumberType::Float32) arguments.x = scratch.rounded.data();
  if (type_ == NumberType::Int8) {
    arguments.x_scales = scratch.scales.data();
    arguments.weight_scales = weight_scales_.data() + begin;
    arguments.offsets = offsets_.data() + begin;
  }
  const auto run_panels = kernels.linear[static_cast<std::size_t>(type_)];
  const std::int64_t tasks =
      tasks_of(scratch.helpers, bytes() / outputs_ * (end - begin), rows.count, panels);
  if (tasks == 1) return run_panels(arguments, rows.count, 0, panels);
  const auto run_task = [&](std::size_t i) {
    const auto task = static_cast<std::int64_t>(i);
    run_panels(arguments, rows.count, panels * task / tasks, panels * (task + 1) / tasks);
  };
  scratch.helpers->run(static_cast<std::size_t>(tasks), std::ref(run_task));
}

}  // namespace dragoman
