#include "inference/cpu/cpu_model.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace dragoman {

namespace {

/// The pages of a tensor that has been read stay in memory no longer.
void drop_pages(const TensorData& tensor) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.data);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + tensor.bytes()) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

template <class Number>
std::span<const Number> numbers_of(const TensorData& tensor) {
  return {static_cast<const Number*>(tensor.data), static_cast<std::size_t>(tensor.elements())};
}

/// Reads parameters by name.
class Weights {
 public:
  Weights(const ModelFileReader& file, ComputeType type)
      : file_(file), type_(type), d_model_(file.config().d_model) {}

  std::vector<float> floats(const std::string& name) const {
    std::vector<float> values = file_.floats(name);
    // Looked up without a check: that was made when it was read.
    drop_pages(*std::ranges::find(file_.tensors(), name, &TensorData::name));
    return values;
  }
  std::vector<float> floats_if_there(const std::string& name) const {
    return file_.has(name) ? floats(name) : std::vector<float>();
  }

  CpuEmbedding embedding(const std::string& name) const {
    if (!file_.has(name)) return {};
    if (!file_.is_int8(name)) return {.floats = floats(name), .rounded = {}};
    CpuEmbedding embedding;
    append_rounded(name, embedding.rounded);
    return embedding;
  }

  /// Layers with the same input become one, whose outputs stand side by side.
  PackedLinear linear(const std::vector<std::string>& names, std::int64_t inputs) const {
    std::vector<float> bias, weights;
    QuantizedRows rounded;
    const bool stays_rounded =
        type_ != ComputeType::Float32 &&
        std::ranges::all_of(names, [this](auto& name) { return file_.is_int8(name + ".weight"); });
    for (const std::string& name : names) {
      append(bias, floats(name + ".bias"));
      if (stays_rounded)
        append_rounded(name + ".weight", rounded);
      else
        append(weights, floats(name + ".weight"));
    }
    if (stays_rounded) return {rounded.whole, rounded.scales, bias, inputs};
    return {weights, bias, inputs, type_};
  }

  /// The projection to the vocabulary, whose matrix is perhaps an embedding that is there already.
  PackedLinear projection(const std::string& name, const CpuEmbedding* embedding) const {
    const std::vector<float> bias = floats_if_there("output.bias");
    CpuEmbedding own;
    if (embedding == nullptr) own = this->embedding(name);
    const CpuEmbedding& matrix = embedding == nullptr ? own : *embedding;
    if (!file_.is_int8(name)) return {matrix.floats, bias, d_model_, type_};
    if (type_ != ComputeType::Float32)
      return {matrix.rounded.whole, matrix.rounded.scales, bias, d_model_};
    return {file_.floats(name), bias, d_model_, type_};
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
  void append_rounded(const std::string& name, QuantizedRows& rows) const {
    const TensorData whole = file_.tensor(name), scales = file_.tensor(scales_name(name));
    append(rows.whole, numbers_of<std::int8_t>(whole));
    append(rows.scales, numbers_of<float>(scales));
    drop_pages(whole);
  }

  template <class Number, class Numbers>
  static void append(std::vector<Number>& all, const Numbers& more) {
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
  if (config.tying == Tying::None)
    output = weights.projection("output.weight", nullptr);
  else
    output = weights.projection(shared ? "embedding.weight" : "embedding.target.weight",
                                &target_embedding());
}

}  // namespace dragoman
