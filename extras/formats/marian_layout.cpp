#include "extras/formats/marian_layout.h"

#include <string_view>

#include "base/error.h"

namespace dragoman {

namespace {

/// The ends of names below a layer, and Marian's.
constexpr std::pair<std::string_view, std::string_view> kLayerNames[] = {
    {"self_attention.query.", "self_?q"},      {"self_attention.key.", "self_?k"},
    {"self_attention.value.", "self_?v"},      {"self_attention.output.", "self_?o"},
    {"self_attention_norm.", "self_Wo_ln"},    {"cross_attention.query.", "context_?q"},
    {"cross_attention.key.", "context_?k"},    {"cross_attention.value.", "context_?v"},
    {"cross_attention.output.", "context_?o"}, {"cross_attention_norm.", "context_Wo_ln"},
    {"feed_forward.inner.", "ffn_?1"},         {"feed_forward.outer.", "ffn_?2"},
    {"feed_forward_norm.", "ffn_ffn_ln"}};

std::string norm_name(const std::string& theirs, bool is_weight) {
  return theirs + (is_weight ? "_scale" : "_bias");
}

/// "encoder.layers.0.self_attention.query.weight" is "encoder_l1_self_Wq".
std::string layer_name(const std::string& side, std::string_view rest, NormPosition norm) {
  const std::size_t dot = rest.find('.');
  const int layer = std::stoi(std::string(rest.substr(0, dot))) + 1;
  rest.remove_prefix(dot + 1);
  const bool is_weight = rest.ends_with("weight");
  for (const auto& [ours, theirs] : kLayerNames) {
    if (!rest.starts_with(ours)) continue;
    std::string name = join_text(side, "_l", layer, "_", theirs);
    const std::size_t kind = name.find('?');
    if (kind == name.npos) return norm_name(name, is_weight) + (is_before(norm) ? "_pre" : "");
    name[kind] = is_weight ? 'W' : 'b';
    return name;
  }
  throw Error("Marian has no ", rest);
}

std::string embedding_name(std::string_view ours, MarianTying tying) {
  if (tying == MarianTying::All || tying == MarianTying::Source) return "Wemb";
  return ours.find("source") != ours.npos ? "encoder_Wemb" : "decoder_Wemb";
}

std::string their_name(const std::string& ours, const ModelConfig& config, MarianTying tying) {
  if (ours.starts_with("embedding.")) return embedding_name(ours, tying);
  if (ours == "output.weight") return "decoder_ff_logit_out_Wt";
  if (ours == "output.bias") return "decoder_ff_logit_out_b";
  const std::string side = ours.substr(0, ours.find('.'));
  if (ours.find(".embedding_norm.") != ours.npos)
    return norm_name(side + "_emb_ln", ours.ends_with("weight")) + "_pre";
  constexpr std::string_view kLayers = ".layers.";
  const std::size_t layers = ours.find(kLayers);
  if (layers == ours.npos) return norm_name(side + "_top_ln", ours.ends_with("weight"));
  return layer_name(side, std::string_view(ours).substr(layers + kLayers.size()), config.norm);
}

}  // namespace

std::vector<std::int64_t> NpzTensor::their_shape() const {
  if (ours.shape.size() == 1) return {1, ours.shape[0]};
  if (is_transposed) return {ours.shape[1], ours.shape[0]};
  return ours.shape;
}

std::vector<NpzTensor> npz_tensors(const ModelConfig& config, MarianTying tying) {
  std::vector<NpzTensor> tensors;
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    const bool is_of_pieces =
        parameter.name.starts_with("embedding.") || parameter.name == "output.weight";
    tensors.push_back({.theirs = their_name(parameter.name, config, tying),
                       .ours = parameter,
                       .is_transposed = parameter.shape.size() == 2 && !is_of_pieces});
  }
  return tensors;
}

std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows,
                              std::int64_t columns) {
  std::vector<float> result(values.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t c = 0; c < columns; ++c)
      result[static_cast<std::size_t>(c * rows + row)] =
          values[static_cast<std::size_t>(row * columns + c)];
  return result;
}

}  // namespace dragoman
