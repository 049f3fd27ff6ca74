#include "inference/cpu/cpu_model.h"

#include <algorithm>
#include <string>
#include <utility>

namespace dragoman {

namespace {

/// Reads parameters by name.
class Weights {
 public:
  Weights(const ModelFileReader& file, ComputeType type)
      : file_(file), type_(type), d_model_(file.config().d_model) {}

  std::vector<float> floats(const std::string& name) const { return file_.floats(name); }
  std::vector<float> floats_if_there(const std::string& name) const {
    return file_.has(name) ? floats(name) : std::vector<float>();
  }

  CpuEmbedding embedding(const std::string& name) const {
    if (!file_.has(name)) return {};
    if (file_.is_int8(name)) return {.floats = {}, .rounded = rounded(name)};
    return {.floats = floats(name), .rounded = {}};
  }

  /// Layers with the same input become one, whose outputs stand side by side.
  PackedLinear linear(const std::vector<std::string>& names, std::int64_t inputs) const {
    std::vector<std::string> matrices;
    std::vector<float> bias;
    for (const std::string& name : names) {
      matrices.push_back(name + ".weight");
      append(bias, floats(name + ".bias"));
    }
    return packed(matrices, bias, inputs);
  }

  /// Of weights that are I8 in the file, as they are where nothing else is asked for.
  PackedLinear packed(const std::vector<std::string>& matrices, const std::vector<float>& bias,
                      std::int64_t inputs) const {
    const bool all_int8 = std::ranges::all_of(
        matrices, [this](const std::string& name) { return file_.is_int8(name); });
    if (type_ != ComputeType::Float32 && all_int8) {
      QuantizedRows weights;
      for (const std::string& name : matrices) {
        const QuantizedRows rows = rounded(name);
        append(weights.whole, rows.whole);
        append(weights.scales, rows.scales);
      }
      return {std::move(weights), bias, inputs};
    }
    std::vector<float> weights;
    for (const std::string& name : matrices) append(weights, floats(name));
    return {weights, bias, inputs, type_};
  }

  CpuNorm norm(const std::string& name) const {
    return {floats(name + ".weight"), floats(name + ".bias")};
  }

  CpuSelfAttention self_attention(const std::string& name) const {
    return {linear({name + ".query", name + ".key", name + ".value"}, d_model_),
            linear({name + ".output"}, d_model_), norm(name + "_norm")};
  }

  CpuCrossAttention cross_attention(const std::string& name) const {
    return {linear({name + ".query"}, d_model_), linear({name + ".key", name + ".value"}, d_model_),
            linear({name + ".output"}, d_model_), norm(name + "_norm")};
  }

  CpuFeedForward feed_forward(const std::string& name) const {
    std::vector<std::string> inner = {name + ".inner"};
    if (is_gated(file_.config().activation)) inner.push_back(name + ".gate");
    return {linear(inner, d_model_), linear({name + ".outer"}, file_.config().d_ff),
            norm(name + "_norm")};
  }

 private:
  QuantizedRows rounded(const std::string& name) const {
    const TensorData whole = file_.tensor(name), scales = file_.tensor(scales_name(name));
    const auto* first = static_cast<const std::int8_t*>(whole.data);
    const auto* first_scale = static_cast<const float*>(scales.data);
    return {.whole = {first, first + whole.elements()},
            .scales = {first_scale, first_scale + scales.elements()}};
  }

  template <class Number>
  static void append(std::vector<Number>& all, const std::vector<Number>& more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  const ModelFileReader& file_;
  ComputeType type_;
  std::int64_t d_model_;
};

std::string layer_name(const char* stack, std::int64_t layer, const char* part) {
  return std::string(stack) + ".layers." + std::to_string(layer) + part;
}

}  // namespace

void CpuEmbedding::add(std::int32_t token, float scale, std::span<float> y) const {
  const std::size_t begin = static_cast<std::size_t>(token) * y.size();
  if (!floats.empty()) {
    for (std::size_t c = 0; c < y.size(); ++c) y[c] += scale * floats[begin + c];
    return;
  }
  const float step = rounded.scales[static_cast<std::size_t>(token)];
  for (std::size_t c = 0; c < y.size(); ++c)
    y[c] += scale * (static_cast<float>(rounded.whole[begin + c]) * step);
}

CpuModel::CpuModel(const ModelFileReader& file, ComputeType type) : config(file.config()) {
  const Weights weights(file, type);
  const bool shared = config.tying == Tying::ThreeWay;
  embedding = weights.embedding(shared ? "embedding.weight" : "embedding.source.weight");
  own_target_embedding = weights.embedding("embedding.target.weight");
  source_positions = weights.floats_if_there("positions.source.weight");
  target_positions = weights.floats_if_there("positions.target.weight");
  for (std::int64_t i = 0; i < config.encoder_layers; ++i)
    encoder.push_back({weights.self_attention(layer_name("encoder", i, ".self_attention")),
                       weights.feed_forward(layer_name("encoder", i, ".feed_forward"))});
  for (std::int64_t i = 0; i < config.decoder_layers; ++i)
    decoder.push_back({weights.self_attention(layer_name("decoder", i, ".self_attention")),
                       weights.cross_attention(layer_name("decoder", i, ".cross_attention")),
                       weights.feed_forward(layer_name("decoder", i, ".feed_forward"))});
  if (config.norm == NormPosition::Before) {
    encoder_norm = weights.norm("encoder.norm");
    decoder_norm = weights.norm("decoder.norm");
  }
  const std::string projection = config.tying == Tying::None ? "output.weight"
                                 : shared                    ? "embedding.weight"
                                                             : "embedding.target.weight";
  output = weights.packed({projection}, weights.floats_if_there("output.bias"), config.d_model);
}

}  // namespace dragoman
