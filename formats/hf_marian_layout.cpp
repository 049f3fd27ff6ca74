#include "formats/hf_marian_layout.h"

#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

/// The first name of an activation is the one that we write.
constexpr std::pair<std::string_view, Activation> kActivations[] = {{"relu", Activation::Relu},
                                                                    {"swish", Activation::Swish},
                                                                    {"silu", Activation::Swish},
                                                                    {"gelu", Activation::Gelu}};

class Tensors {
 public:
  explicit Tensors(const ModelConfig& config) : config_(config), d_(config.d_model) {}

  std::vector<MarianTensor> all() {
    embeddings();
    stack("encoder", config_.encoder_layers);
    stack("decoder", config_.decoder_layers);
    return std::move(tensors_);
  }

 private:
  void embedding(const char* ours, const char* theirs, std::int64_t pieces) {
    tensors_.push_back(
        {.ours = ours, .theirs = theirs, .shape = {pieces, d_}, .has_padding = true});
  }
  void embeddings() {
    if (config_.tying == Tying::ThreeWay) {
      embedding("embedding.weight", "model.shared.weight", config_.target_vocabulary);
    } else {
      embedding("embedding.source.weight", "model.encoder.embed_tokens.weight",
                config_.source_vocabulary);
      embedding("embedding.target.weight", "model.decoder.embed_tokens.weight",
                config_.target_vocabulary);
    }
    if (config_.tying == Tying::None)
      embedding("output.weight", "lm_head.weight", config_.target_vocabulary);
    if (config_.output_bias)
      tensors_.push_back({.ours = "output.bias",
                          .theirs = "final_logits_bias",
                          .shape = {config_.target_vocabulary},
                          .has_padding = true});
  }

  void vector(const std::string& ours, const std::string& theirs, std::int64_t size) {
    tensors_.push_back({.ours = ours, .theirs = theirs, .shape = {size}});
  }
  void linear(const std::string& ours, const std::string& theirs, std::int64_t outputs,
              std::int64_t inputs) {
    tensors_.push_back(
        {.ours = ours + ".weight", .theirs = theirs + ".weight", .shape = {outputs, inputs}});
    vector(ours + ".bias", theirs + ".bias", outputs);
  }
  void norm(const std::string& ours, const std::string& theirs) {
    for (const char* kind : {".weight", ".bias"}) vector(ours + kind, theirs + kind, d_);
  }
  void attention(const std::string& ours, const std::string& theirs) {
    linear(ours + ".query", theirs + ".q_proj", d_, d_);
    linear(ours + ".key", theirs + ".k_proj", d_, d_);
    linear(ours + ".value", theirs + ".v_proj", d_, d_);
    linear(ours + ".output", theirs + ".out_proj", d_, d_);
    norm(ours + "_norm", theirs + "_layer_norm");
  }
  void stack(const std::string& side, std::int64_t layers) {
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string ours = side + ".layers." + std::to_string(i), theirs = "model." + ours;
      attention(ours + ".self_attention", theirs + ".self_attn");
      if (side == "decoder") attention(ours + ".cross_attention", theirs + ".encoder_attn");
      linear(ours + ".feed_forward.inner", theirs + ".fc1", config_.d_ff, d_);
      linear(ours + ".feed_forward.outer", theirs + ".fc2", d_, config_.d_ff);
      norm(ours + ".feed_forward_norm", theirs + ".final_layer_norm");
    }
  }

  const ModelConfig& config_;
  std::int64_t d_;
  std::vector<MarianTensor> tensors_;
};

}  // namespace

std::vector<MarianTensor> marian_tensors(const ModelConfig& config) {
  const auto refuse = [](bool is_other, const char* flag, const char* what) {
    if (is_other) throw Error("MarianMTModel has no ", what, " (--", flag, ")");
  };
  refuse(config.norm != NormPosition::After, "norm before", "normalisation before the sub-layers");
  refuse(config.positions == Positions::Learned, "positions learned", "learned positions");
  refuse(config.positions == Positions::Marian, "positions marian",
         "positions with Marian's frequencies: its own are the paper's");
  refuse(is_gated(config.activation), "activation", "gated feed-forward networks");
  refuse(config.norm_epsilon != 1e-5, "norm-epsilon", "epsilon of normalisation other than 1e-5");
  if (!config.source_eos) throw Error("MarianMTModel has no sources without </s> (source-eos)");
  return Tensors(config).all();
}

std::vector<std::int64_t> MarianTensor::their_shape() const {
  std::vector<std::int64_t> theirs_shape = shape;
  if (!has_padding) return theirs_shape;
  ++theirs_shape.front();
  if (shape.size() == 1) theirs_shape.insert(theirs_shape.begin(), 1);
  return theirs_shape;
}

std::size_t MarianTensor::padding() const {
  if (!has_padding) return 0;
  return static_cast<std::size_t>(shape.size() == 1 ? 1 : shape[1]);
}

std::string marian_name(Activation activation) {
  for (const auto& [name, known] : kActivations)
    if (known == activation) return std::string(name);
  throw Error("MarianMTModel has no gated feed-forward networks (--activation)");
}

std::optional<Activation> marian_activation(std::string_view name) {
  for (const auto& [known, activation] : kActivations)
    if (known == name) return activation;
  return std::nullopt;
}

}  // namespace dragoman
