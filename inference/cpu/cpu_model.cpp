#include "inference/cpu/cpu_model.h"

#include <string>

namespace dragoman {

namespace {

/// Reads parameters by name.
class Weights {
 public:
  Weights(const ModelFileReader& file, ComputeType type)
      : file_(file), type_(type), d_model_(file.config().d_model) {}

  std::vector<float> floats(const std::string& name) const {
    const TensorData tensor = file_.tensor(name);
    std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
    copy_as_floats(tensor, values);
    return values;
  }
  std::vector<float> floats_if_there(const std::string& name) const {
    return file_.has(name) ? floats(name) : std::vector<float>();
  }

  /// Layers with the same input become one, whose outputs stand side by side.
  PackedLinear linear(const std::vector<std::string>& names, std::int64_t inputs) const {
    std::vector<float> weights, bias;
    for (const std::string& name : names) {
      append(weights, floats(name + ".weight"));
      append(bias, floats(name + ".bias"));
    }
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
  static void append(std::vector<float>& all, const std::vector<float>& more) {
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

CpuModel::CpuModel(const ModelFileReader& file, ComputeType type) : config(file.config()) {
  const Weights weights(file, type);
  const bool shared = config.tying == Tying::ThreeWay;
  embedding = weights.floats(shared ? "embedding.weight" : "embedding.source.weight");
  own_target_embedding = weights.floats_if_there("embedding.target.weight");
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
  const bool tied = config.tying != Tying::None;
  output = {tied ? target_embedding() : weights.floats("output.weight"),
            weights.floats_if_there("output.bias"), config.d_model, type};
}

}  // namespace dragoman
