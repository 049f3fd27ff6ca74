#include "inference/cpu/cpu_model.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace dragoman {

// ---- packed linear layers ----------------------------------------------------------------------

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

/// The packed weights, from the panel that begins with `first_output`.
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

// ---- a model's weights -------------------------------------------------------------------------

namespace {

template <class Number>
std::span<const Number> numbers_of(const TensorData& tensor) {
  return {static_cast<const Number*>(tensor.data), static_cast<std::size_t>(tensor.elements())};
}

/// Reads parameters by name.
class Weights {
 public:
  Weights(const ParameterReader& parameters, ComputeType type)
      : parameters_(parameters),
        type_(type),
        d_model_(parameters.config().d_model),
        order_(parameters.config().heads, parameters.config().d_k()) {}

  std::vector<float> floats(const std::string& name) const {
    std::vector<float> values = parameters_.floats(name);
    parameters_.give_back(*parameters_.find(name));
    return values;
  }
  std::vector<float> floats_if_present(const std::string& name) const {
    return parameters_.has(name) ? floats(name) : std::vector<float>();
  }

  CpuEmbedding embedding(const std::string& name) const {
    CpuEmbedding embedding;
    if (parameters_.is_int8(name))
      append_rounded(name, embedding.rounded);
    else
      embedding.floats = floats(name);
    return embedding;
  }

  /// Layers with the same input become one, whose outputs stand side by side.
  PackedLinear linear(const std::vector<std::string>& names, std::int64_t inputs) const {
    return pack(read(names, inputs));
  }
  /// The same for layers whose outputs are heads: the outputs are brought into HeadOrder.
  PackedLinear linear_to_heads(const std::vector<std::string>& names) const {
    Matrix matrix = read(names, d_model_);
    matrix.bias = in_head_order(matrix.bias, 1);
    matrix.floats = in_head_order(matrix.floats, d_model_);
    matrix.rounded.whole = in_head_order(matrix.rounded.whole, d_model_);
    matrix.rounded.scales = in_head_order(matrix.rounded.scales, 1);
    return pack(matrix);
  }
  /// The same for a layer whose inputs are heads in HeadOrder.
  PackedLinear linear_from_heads(const std::string& name) const {
    Matrix matrix = read({name}, d_model_);
    matrix.floats = in_head_order(matrix.floats, 1);
    matrix.rounded.whole = in_head_order(matrix.rounded.whole, 1);
    matrix.inputs = order_.width;
    return pack(matrix);
  }

  /// The projection to the vocabulary.
  PackedLinear projection(const std::string& name) const {
    const std::vector<float> bias = floats_if_present("output.bias");
    if (!parameters_.is_int8(name) || !may_stay_rounded())
      return {floats(name), bias, d_model_, type_};
    QuantizedRows rounded;
    append_rounded(name, rounded);
    return {rounded.whole, rounded.scales, bias, d_model_};
  }

  CpuNorm norm(const std::string& name) const {
    return {floats(name + ".weight"), floats(name + ".bias")};
  }

  CpuSelfAttention encoder_attention(const std::string& name) const {
    const auto project = [this](const auto& names) { return linear(names, d_model_); };
    return self_attention(name, linear({name + ".output"}, d_model_), project);
  }

  CpuSelfAttention decoder_attention(const std::string& name) const {
    const auto project = [this](const auto& names) { return linear_to_heads(names); };
    return self_attention(name, linear_from_heads(name + ".output"), project);
  }

  CpuCrossAttention cross_attention(const std::string& name) const {
    return {linear_to_heads({name + ".query"}), linear_to_heads({name + ".key", name + ".value"}),
            linear_from_heads(name + ".output"), norm(name + "_norm")};
  }

  CpuFeedForward feed_forward(const std::string& name) const {
    std::vector<std::string> inner = {name + ".inner"};
    if (is_gated(parameters_.config().activation)) inner.push_back(name + ".gate");
    return {linear(inner, d_model_), linear({name + ".outer"}, parameters_.config().d_ff),
            norm(name + "_norm")};
  }

 private:
  /// `project` makes one layer of several that have the same input.
  template <class Project>
  CpuSelfAttention self_attention(const std::string& name, PackedLinear output,
                                  Project&& project) const {
    using Names = std::vector<std::string>;
    const std::string query = name + ".query", key = name + ".key", value = name + ".value";
    if (parameters_.config().norm != NormPosition::BeforeQueries)
      return {project(Names{query, key, value}), std::move(output), norm(name + "_norm")};
    return {project(Names{query}), std::move(output), norm(name + "_norm"),
            project(Names{key, value})};
  }

  /// Weights [outputs, inputs] as fp32 or as whole numbers.
  struct Matrix {
    std::vector<float> floats;
    QuantizedRows rounded;
    std::vector<float> bias;
    std::int64_t inputs;
  };

  Matrix read(const std::vector<std::string>& names, std::int64_t inputs) const {
    Matrix matrix{.floats = {}, .rounded = {}, .bias = {}, .inputs = inputs};
    const bool stays_rounded = may_stay_rounded() && std::ranges::all_of(names, [this](auto& name) {
                                 return parameters_.is_int8(name + ".weight");
                               });
    for (const std::string& name : names) {
      append(matrix.bias, floats(name + ".bias"));
      if (stays_rounded)
        append_rounded(name + ".weight", matrix.rounded);
      else
        append(matrix.floats, floats(name + ".weight"));
    }
    return matrix;
  }

  bool may_stay_rounded() const { return type_ == ComputeType::Auto || type_ == ComputeType::Int8; }

  PackedLinear pack(const Matrix& matrix) const {
    if (matrix.floats.empty())
      return {matrix.rounded.whole, matrix.rounded.scales, matrix.bias, matrix.inputs};
    return {matrix.floats, matrix.bias, matrix.inputs, type_};
  }

  /// Brings each D rows of `columns` numbers, head after head, into HeadOrder: W rows, padded with
  /// zeros.
  template <class Number>
  std::vector<Number> in_head_order(const std::vector<Number>& rows, std::int64_t columns) const {
    const auto groups = static_cast<std::int64_t>(rows.size()) / (d_model_ * columns);
    std::vector<Number> all(static_cast<std::size_t>(groups * order_.width * columns));
    auto row = rows.begin();
    for (std::int64_t group = 0; group < groups; ++group)
      for (std::int64_t h = 0; h < order_.heads; ++h)
        for (std::int64_t c = 0; c < order_.d_k; ++c, row += columns)
          std::copy_n(row, columns,
                      all.begin() + (group * order_.width + order_.index(h, c)) * columns);
    return all;
  }

  void append_rounded(const std::string& name, QuantizedRows& rows) const {
    const TensorData whole = parameters_.tensor(name),
                     scales = parameters_.tensor(scales_name(name));
    append(rows.whole, numbers_of<std::int8_t>(whole));
    append(rows.scales, numbers_of<float>(scales));
    parameters_.give_back(whole);
  }

  template <class Number, class Numbers>
  static void append(std::vector<Number>& all, const Numbers& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  const ParameterReader& parameters_;
  ComputeType type_;
  std::int64_t d_model_;
  HeadOrder order_;
};

/// Auto: int8 if the file has the keys of the first cross-attention in int8, else fp32.
NumberType cache_type_of(const ParameterReader& parameters, ComputeType type) {
  const bool rounded = parameters.is_int8("decoder.layers.0.cross_attention.key.weight");
  return type == ComputeType::Auto && rounded ? NumberType::Int8 : number_type(type);
}

std::string layer_name(const char* stack, std::int64_t layer, const char* part) {
  return std::string(stack) + ".layers." + std::to_string(layer) + part;
}

}  // namespace

void CpuEmbedding::add(std::int32_t token, float scale, std::span<float> y) const {
  if (projection != nullptr) {
    projection->add_weights(token, scale, y.data());
    return;
  }
  const std::size_t begin = static_cast<std::size_t>(token) * y.size();
  if (!floats.empty()) {
    for (std::size_t c = 0; c < y.size(); ++c) y[c] += scale * floats[begin + c];
    return;
  }
  const float step = rounded.scales[static_cast<std::size_t>(token)];
  for (std::size_t c = 0; c < y.size(); ++c)
    y[c] += scale * (static_cast<float>(rounded.whole[begin + c]) * step);
}

CpuModel::CpuModel(const ParameterReader& parameters, ComputeType type)
    : config(parameters.config()),
      order(config.heads, config.d_k()),
      cache_type(cache_type_of(parameters, type)) {
  if (type == ComputeType::Float16)
    throw UsageError("--compute-type float16: works on a GPU; on the CPU bfloat16 does");
  const Weights weights(parameters, type);
  const std::string target =
      config.tying == Tying::ThreeWay ? "embedding.weight" : "embedding.target.weight";
  output = std::make_shared<const PackedLinear>(
      weights.projection(config.tying == Tying::None ? "output.weight" : target));
  if (config.tying == Tying::None)
    target_embedding = weights.embedding(target);
  else
    target_embedding.projection = output;
  source_embedding = config.tying == Tying::ThreeWay ? target_embedding
                                                     : weights.embedding("embedding.source.weight");
  source_positions = weights.floats_if_present("positions.source.weight");
  target_positions = weights.floats_if_present("positions.target.weight");
  for (std::int64_t i = 0; i < config.encoder_layers; ++i)
    encoder.push_back({weights.encoder_attention(layer_name("encoder", i, ".self_attention")),
                       weights.feed_forward(layer_name("encoder", i, ".feed_forward"))});
  for (std::int64_t i = 0; i < config.decoder_layers; ++i)
    decoder.push_back({weights.decoder_attention(layer_name("decoder", i, ".self_attention")),
                       weights.cross_attention(layer_name("decoder", i, ".cross_attention")),
                       weights.feed_forward(layer_name("decoder", i, ".feed_forward"))});
  if (config.embedding_norm) {
    source_embedding_norm = weights.norm("encoder.embedding_norm");
    target_embedding_norm = weights.norm("decoder.embedding_norm");
  }
  if (is_before(config.norm)) {
    encoder_norm = weights.norm("encoder.norm");
    decoder_norm = weights.norm("decoder.norm");
  }
}

std::int64_t CpuModel::step_bytes() const {
  std::int64_t bytes = output->bytes();
  for (const CpuDecoderLayer& layer : decoder)
    for (const PackedLinear* linear :
         {&layer.self_attention.query_key_value, &layer.self_attention.key_value,
          &layer.self_attention.output, &layer.cross_attention.query, &layer.cross_attention.output,
          &layer.feed_forward.inner, &layer.feed_forward.outer})
      bytes += linear->bytes();
  return bytes;
}

}  // namespace dragoman
