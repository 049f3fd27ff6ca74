#include "extras/formats/hf_marian_layout.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace dragoman {

namespace {

/// The first name of an activation is the one that we write.
constexpr std::pair<std::string_view, Activation> kHfActivations[] = {{"relu", Activation::Relu},
                                                                      {"swish", Activation::Swish},
                                                                      {"silu", Activation::Swish},
                                                                      {"gelu", Activation::Gelu}};

constexpr std::string_view kUnused = "<no piece ";

class Tensors {
 public:
  Tensors(const ModelConfig& config, const HfPadding& padding)
      : config_(config), padding_(padding), d_(config.d_model) {}

  std::vector<HfTensor> all() {
    embeddings();
    stack("encoder", config_.encoder_layers);
    stack("decoder", config_.decoder_layers);
    return std::move(tensors_);
  }

 private:
  void of_target(const char* ours, const char* theirs, std::vector<std::int64_t> shape) {
    tensors_.push_back({.ours = ours,
                        .theirs = theirs,
                        .shape = std::move(shape),
                        .padding_rows = padding_.target});
  }
  void embeddings() {
    const std::int64_t pieces = config_.target_vocabulary;
    if (config_.tying == Tying::ThreeWay) {
      of_target("embedding.weight", "model.shared.weight", {pieces, d_});
    } else {
      tensors_.push_back({.ours = "embedding.source.weight",
                          .theirs = "model.encoder.embed_tokens.weight",
                          .shape = {config_.source_vocabulary, d_},
                          .padding_rows = padding_.source});
      of_target("embedding.target.weight", "model.decoder.embed_tokens.weight", {pieces, d_});
    }
    if (config_.tying == Tying::None) of_target("output.weight", "lm_head.weight", {pieces, d_});
    if (config_.output_bias) of_target("output.bias", "final_logits_bias", {pieces});
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
  HfPadding padding_;
  std::int64_t d_;
  std::vector<HfTensor> tensors_;
};

}  // namespace

HfPadding hf_padding(const ModelConfig& config) {
  const std::int64_t size = std::max(config.source_vocabulary, config.target_vocabulary) + 1;
  return {.source = size - config.source_vocabulary, .target = size - config.target_vocabulary};
}

std::string unused_piece(std::int64_t number) { return join_text(kUnused, number, ">"); }

bool is_unused_piece(std::string_view piece) { return piece.starts_with(kUnused); }

std::vector<HfTensor> hf_tensors(const ModelConfig& config, const HfPadding& padding) {
  const auto refuse = [](bool is_other, const char* flag, const char* what, const char* needed) {
    if (is_other)
      throw Error("MarianMTModel has no ", what, " (--", flag, "); a model for it is trained with ",
                  needed);
  };
  constexpr const char* kAfter = "--norm after";
  refuse(config.norm == NormPosition::Before, "norm before", "normalisation before the sub-layers",
         kAfter);
  refuse(config.norm == NormPosition::BeforeQueries, "norm before-queries",
         "normalisation before the sub-layers", kAfter);
  refuse(config.positions == Positions::Learned, "positions learned", "learned positions",
         "--positions sinusoidal");
  refuse(config.positions == Positions::Marian, "positions marian",
         "positions with Marian's frequencies: its own are the paper's", "--positions sinusoidal");
  refuse(is_gated(config.activation), "activation", "gated feed-forward networks",
         "--activation relu, gelu or swish");
  if (config.norm_epsilon != 1e-5)
    throw Error("MarianMTModel has no epsilon of normalisation other than 1e-5; the model has ",
                config.norm_epsilon);
  if (config.embedding_norm)
    throw Error("MarianMTModel has no normalised embeddings (embedding-norm)");
  if (!config.source_eos) throw Error("MarianMTModel has no sources without </s> (source-eos)");
  return Tensors(config, padding).all();
}

std::vector<std::int64_t> HfTensor::their_shape() const {
  std::vector<std::int64_t> theirs_shape = shape;
  theirs_shape.front() += padding_rows;
  if (padding_rows > 0 && shape.size() == 1) theirs_shape.insert(theirs_shape.begin(), 1);
  return theirs_shape;
}

std::size_t HfTensor::padding() const {
  return static_cast<std::size_t>(shape.size() == 1 ? padding_rows : padding_rows * shape[1]);
}

std::string hf_name(Activation activation) {
  for (const auto& [name, known] : kHfActivations)
    if (known == activation) return std::string(name);
  throw Error("MarianMTModel has no gated feed-forward networks (--activation)");
}

std::optional<Activation> hf_activation(std::string_view name) {
  for (const auto& [known, activation] : kHfActivations)
    if (known == name) return activation;
  return std::nullopt;
}

}  // namespace dragoman
