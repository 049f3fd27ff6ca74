// The architecture of a model: every choice that decides the names and shapes of its parameters,
// and its dropout in training. It is stored in the model file. Paper: Vaswani et al. 2017, table 3.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

enum class Preset { Tiny, Small, Base, Big };
constexpr std::array<std::string_view, 4> names_of(Preset) {
  return {"tiny", "small", "base", "big"};
}

/// The place of layer normalisation: after each sub-layer's residual sum (the paper), or before the
/// sub-layer, with one more after the last layer of each stack.
enum class NormPosition {
  After,
  Before,
  BeforeQueries,  ///< as Before, but keys and values of self-attention come from the sum as it is
};
constexpr std::array<std::string_view, 3> names_of(NormPosition) {
  return {"after", "before", "before-queries"};
}
constexpr bool is_before(NormPosition position) { return position != NormPosition::After; }

enum class Activation { Relu, Gelu, Swish, GatedGelu, GatedSwish };
constexpr std::array<std::string_view, 5> names_of(Activation) {
  return {"relu", "gelu", "swish", "gated-gelu", "gated-swish"};
}
constexpr bool is_gated(Activation a) {
  return a == Activation::GatedGelu || a == Activation::GatedSwish;
}

enum class Positions {
  Sinusoidal,  ///< the paper's, section 3.5
  Learned,
  Marian,  ///< sinusoidal with the frequencies of Marian and tensor2tensor: see sinusoid()
};
constexpr std::array<std::string_view, 3> names_of(Positions) {
  return {"sinusoidal", "learned", "marian"};
}

/// The matrices that are shared: source, target and output projection (section 3.4 of the paper);
/// target and output; none.
enum class Tying { ThreeWay, TwoWay, None };
constexpr std::array<std::string_view, 3> names_of(Tying) {
  return {"three-way", "two-way", "none"};
}

struct ModelConfig {
  std::int64_t d_model = 512;
  std::int64_t heads = 8;
  std::int64_t d_ff = 2048;
  std::int64_t encoder_layers = 6;
  std::int64_t decoder_layers = 6;
  NormPosition norm = NormPosition::After;
  Activation activation = Activation::Relu;
  Positions positions = Positions::Sinusoidal;
  std::int64_t max_positions = 1024;  ///< of learned positions; sinusoidal ones have no end
  Tying tying = Tying::ThreeWay;
  bool output_bias = false;
  double dropout = 0.1;             ///< of embeddings and of each sub-layer's output (section 5.4)
  double attention_dropout = 0;     ///< of attention weights: the paper drops none
  double activation_dropout = 0.1;  ///< of the feed-forward network's inner activations

  // Other systems' models need these, which have no flags.
  double norm_epsilon = 1e-5;  ///< of layer normalisation, added to the variance
  bool source_eos = true;      ///< whether a source sentence ends with </s>
  /// Whether the sum of embedding and position is normalised before the first layer.
  bool embedding_norm = false;

  // The tokenizer decides these, not flags.
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;
  std::int64_t unk_id = 0;
  std::int64_t bos_id = 1;
  std::int64_t eos_id = 2;

  /// The values of a preset; base and big are the rows of the paper's table 3.
  static ModelConfig from_preset(Preset preset);

  /// Throws UsageError naming the flag. The heads must divide d_model, sizes must be positive, and
  /// rates must lie in [0, 1).
  void check() const;

  std::int64_t d_k() const { return d_model / heads; }
  /// The longest sentence that there are positions for, in pieces, </s> included.
  std::int64_t longest_sentence() const {
    return positions == Positions::Learned ? max_positions
                                           : std::numeric_limits<std::int32_t>::max();
  }

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Model", visit);
    field("d-model", d_model, "width of the model",
          {.aliases = "dim-emb,hidden-size,encoder-embed-dim"});
    field("heads", heads, "attention heads",
          {.aliases = "transformer-heads,num-heads,encoder-attention-heads"});
    field("d-ff", d_ff, "inner width of the feed-forward networks",
          {.aliases = "ffn-dim,transformer-dim-ffn,encoder-ffn-embed-dim"});
    field("encoder-layers", encoder_layers, "layers of the encoder",
          {.aliases = "enc-depth,enc-layers"});
    field("decoder-layers", decoder_layers, "layers of the decoder",
          {.aliases = "dec-depth,dec-layers"});
    field("norm", norm,
          "layer normalisation after (as in the paper) or before each sub-layer; export --format "
          "hf-marian and marian need after; before-queries: as Marian 1.9 and 1.10, which do not "
          "normalise the keys and values of self-attention");
    field("activation", activation, "activation function of the feed-forward networks");
    field("positions", positions,
          "positional encoding; marian: sinusoidal with Marian's frequencies; export --format "
          "marian needs it, and hf-marian needs sinusoidal");
    field("max-positions", max_positions,
          "longest sentence with learned positions, in pieces, </s> included");
    field("tying", tying,
          "which embeddings share one matrix; three-way: source, target and output; two-way: "
          "target and output; none: none of them",
          {.aliases = "tied-embeddings,weight-tying-type"});
    field("output-bias", output_bias, "add a bias to the output projection");
    field("dropout", dropout, "dropout rate of embeddings and sub-layer outputs",
          {.aliases = "transformer-dropout"});
    field("attention-dropout", attention_dropout, "dropout rate of attention weights",
          {.aliases = "transformer-dropout-attention"});
    field("activation-dropout", activation_dropout, "dropout rate inside the feed-forward networks",
          {.aliases = "transformer-dropout-ffn"});
  }
};

/// The stored text: JSON with every field, the vocabulary sizes and the special ids.
std::string to_json(const ModelConfig& config);
/// Throws Error on missing or wrong fields. The first model files lack norm-epsilon, which was
/// 1e-5, and source-eos, which was true. embedding-norm is only there if it is true.
ModelConfig model_config_from_json(std::string_view json);

struct ParameterShape {
  std::string name;
  std::vector<std::int64_t> shape;

  std::int64_t elements() const;
};

std::string shape_text(const std::vector<std::int64_t>& shape);  ///< "[512, 64]"

/// Names and shapes of all parameters, in the order of the module tree. The model file, the module
/// tree and the CPU engine all keep to them. Weights of linear layers are [out, in].
std::vector<ParameterShape> parameter_shapes(const ModelConfig& config);

/// An element of the sinusoidal positional encoding (section 3.5): sines and cosines alternate.
/// Frequency i of the paper is 10000^(-i / (d_model / 2)), so the last is a little above 1/10000.
/// That of Marian (graph/node_initializers.cpp) is 10000^(-i / (d_model / 2 - 1)), so the last is
/// 1/10000. `positions` is one of these two.
float sinusoid(std::int64_t position, std::int64_t column, std::int64_t d_model,
               Positions positions);

}  // namespace dragoman
