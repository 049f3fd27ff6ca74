#include "model/transformer.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/functional/linear.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "model/ops/column_sums.h"
#include "model/ops/kernel_call.h"
#include "model/ops/layers.h"

namespace dragoman {

namespace {

// Each dropout has a site number of its own, so that their masks differ (DropoutMask). A run that
// is resumed needs the same numbers as before. The embeddings have 0 and 1. Each layer has eight:
// the encoder's layers from 8 on, the decoder's from 8 * 1024 on. Layers count from 0.

enum class EmbeddingDropout : std::uint32_t { Source, Target };
enum class EncoderDropout : std::uint32_t {
  AttentionWeights,
  InnerLayer,  ///< of the feed-forward network
  SelfAttention,
  FeedForward
};
enum class DecoderDropout : std::uint32_t {
  SelfAttentionWeights,
  CrossAttentionWeights,
  InnerLayer,
  SelfAttention,
  CrossAttention,
  FeedForward
};

constexpr std::uint32_t dropout_site(EmbeddingDropout dropout) {
  return static_cast<std::uint32_t>(dropout);
}
constexpr std::uint32_t dropout_site(EncoderDropout dropout, std::int64_t layer) {
  return static_cast<std::uint32_t>((1 + layer) * 8) + static_cast<std::uint32_t>(dropout);
}
constexpr std::uint32_t dropout_site(DecoderDropout dropout, std::int64_t layer) {
  return static_cast<std::uint32_t>((1024 + layer) * 8) + static_cast<std::uint32_t>(dropout);
}

}  // namespace

// The encoder

EncoderLayerImpl::EncoderLayerImpl(const ModelConfig& config, std::int64_t layer)
    : self_attention(config, dropout_site(EncoderDropout::AttentionWeights, layer)),
      self_attention_norm(layer_norm(config)),
      feed_forward(config, dropout_site(EncoderDropout::InnerLayer, layer)),
      feed_forward_norm(layer_norm(config)),
      norm_position(config.norm),
      self_attention_dropout{config.dropout, dropout_site(EncoderDropout::SelfAttention, layer)},
      feed_forward_dropout{config.dropout, dropout_site(EncoderDropout::FeedForward, layer)} {
  register_module("self_attention", self_attention);
  register_module("self_attention_norm", self_attention_norm);
  register_module("feed_forward", feed_forward);
  register_module("feed_forward_norm", feed_forward_norm);
}

ResidualStream EncoderLayerImpl::forward(const ResidualStream& x, const PackedLayout& layout) {
  const auto attended = self_attention_connection(
      x, self_attention_norm, norm_position, self_attention_dropout, layout.row_keys,
      [&](const SelfAttentionInput& input) {
        return self_attention->self(input, layout, AttentionMask::Sentence);
      });
  return residual_connection(
      attended, feed_forward_norm, norm_position, feed_forward_dropout, layout.row_keys,
      [&](const torch::Tensor& input) { return feed_forward(input, layout.row_keys); });
}

EncoderImpl::EncoderImpl(const ModelConfig& config) {
  if (config.embedding_norm) embedding_norm = register_module("embedding_norm", layer_norm(config));
  for (std::int64_t i = 0; i < config.encoder_layers; ++i)
    layers->push_back(EncoderLayer(config, i));
  register_module("layers", layers);
  if (is_before(config.norm)) norm = register_module("norm", layer_norm(config));
}

torch::Tensor EncoderImpl::forward(torch::Tensor x, const PackedLayout& layout) {
  ResidualStream stream{normalized_if_asked(embedding_norm, x), {}, {}};
  for (const auto& layer : *layers) stream = layer->as<EncoderLayerImpl>()->forward(stream, layout);
  return norm ? stream.normalize(norm, layout.row_keys).normalized : stream.value(layout.row_keys);
}

// The decoder

torch::Tensor PackedDecoderAttention::self(std::int64_t, MultiHeadAttention& module,
                                           const SelfAttentionInput& x) {
  return module->self(x, target_, AttentionMask::Causal);
}

torch::Tensor PackedDecoderAttention::cross(std::int64_t layer, MultiHeadAttention& module,
                                            const torch::Tensor& x) {
  if (projected_.empty()) return module->cross(x, memory_, target_, source_);
  return module->cross(x, projected_[layer], target_, source_);
}

void PackedDecoderAttention::project_memory(const DecoderImpl& decoder) {
  std::vector<torch::Tensor> weights, biases;
  for (const auto& layer : *decoder.layers) {
    const auto& attention = layer->as<DecoderLayerImpl>()->cross_attention;
    for (const torch::nn::Linear& projection : {attention->key, attention->value}) {
      weights.push_back(projection->weight);
      biases.push_back(projection->bias);
    }
  }
  const auto all = joined_linear(memory_, weights, biases);  // [M, layers * 2D]
  const auto parts = split_columns(all, std::ssize(weights));
  for (std::size_t i = 0; i < parts.size(); i += 2) projected_.push_back({parts[i], parts[i + 1]});
}

DecoderLayerImpl::DecoderLayerImpl(const ModelConfig& config, std::int64_t layer)
    : layer(layer),
      self_attention(config, dropout_site(DecoderDropout::SelfAttentionWeights, layer)),
      self_attention_norm(layer_norm(config)),
      cross_attention(config, dropout_site(DecoderDropout::CrossAttentionWeights, layer)),
      cross_attention_norm(layer_norm(config)),
      feed_forward(config, dropout_site(DecoderDropout::InnerLayer, layer)),
      feed_forward_norm(layer_norm(config)),
      norm_position(config.norm),
      self_attention_dropout{config.dropout, dropout_site(DecoderDropout::SelfAttention, layer)},
      cross_attention_dropout{config.dropout, dropout_site(DecoderDropout::CrossAttention, layer)},
      feed_forward_dropout{config.dropout, dropout_site(DecoderDropout::FeedForward, layer)} {
  register_module("self_attention", self_attention);
  register_module("self_attention_norm", self_attention_norm);
  register_module("cross_attention", cross_attention);
  register_module("cross_attention_norm", cross_attention_norm);
  register_module("feed_forward", feed_forward);
  register_module("feed_forward_norm", feed_forward_norm);
}

ResidualStream DecoderLayerImpl::forward(const ResidualStream& x, DecoderAttention& attention,
                                         const torch::Tensor& row_keys) {
  const auto target =
      self_attention_connection(x, self_attention_norm, norm_position, self_attention_dropout,
                                row_keys, [&](const SelfAttentionInput& input) {
                                  return attention.self(layer, self_attention, input);
                                });
  const auto attended = residual_connection(
      target, cross_attention_norm, norm_position, cross_attention_dropout, row_keys,
      [&](const torch::Tensor& input) { return attention.cross(layer, cross_attention, input); });
  return residual_connection(
      attended, feed_forward_norm, norm_position, feed_forward_dropout, row_keys,
      [&](const torch::Tensor& input) { return feed_forward(input, row_keys); });
}

DecoderImpl::DecoderImpl(const ModelConfig& config) {
  if (config.embedding_norm) embedding_norm = register_module("embedding_norm", layer_norm(config));
  for (std::int64_t i = 0; i < config.decoder_layers; ++i)
    layers->push_back(DecoderLayer(config, i));
  register_module("layers", layers);
  if (is_before(config.norm)) norm = register_module("norm", layer_norm(config));
}

torch::Tensor DecoderImpl::forward(torch::Tensor x, DecoderAttention& attention,
                                   const torch::Tensor& row_keys) {
  ResidualStream stream{normalized_if_asked(embedding_norm, x), {}, {}};
  for (const auto& layer : *layers)
    stream = layer->as<DecoderLayerImpl>()->forward(stream, attention, row_keys);
  return norm ? stream.normalize(norm, row_keys).normalized : stream.value(row_keys);
}

// The whole model

PackedTokens packed_tokens(std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> starts, std::int64_t heads,
                           torch::Device device, std::int64_t row_multiple,
                           std::int64_t least_longest) {
  auto layout = PackedLayout::from_starts(starts, heads, device, row_multiple, least_longest);
  std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  ids.resize(static_cast<std::size_t>(layout.rows), -1);
  return {to_device(ids, device), std::move(layout)};
}

namespace {

/// target.tokens moved right by one: -1 (the zero vector), then all but the last token of each
/// sentence.
torch::Tensor shifted_right(const PackedTokens& target) {
  auto shifted = target.tokens.roll(1);
  return shifted.masked_fill_(target.layout.positions == 0, -1);
}

}  // namespace

OutputImpl::OutputImpl(const ModelConfig& config) {
  if (config.tying == Tying::None)
    weight = register_parameter("weight", torch::empty({config.target_vocabulary, config.d_model}));
  if (config.output_bias)
    bias = register_parameter("bias", torch::zeros({config.target_vocabulary}));
}

TransformerImpl::TransformerImpl(const ModelConfig& config)
    : config(config),
      embedding(register_module("embedding", Embedding(config))),
      positional_encoding(register_module("positions", PositionalEncoding(config))),
      encoder(register_module("encoder", Encoder(config))),
      decoder(register_module("decoder", Decoder(config))),
      output(register_module("output", Output(config))),
      source_dropout{config.dropout, dropout_site(EmbeddingDropout::Source)},
      target_dropout{config.dropout, dropout_site(EmbeddingDropout::Target)} {}

torch::Tensor TransformerImpl::encode(const PackedTokens& source) {
  const PackedLayout& layout = source.layout;
  const auto weight = embedding->source_weight();
  const auto sinusoids = positional_encoding->sinusoids(weight, layout.longest);
  if (sinusoids.defined())
    return encoder(embed_at_positions({source.tokens, weight, embedding->scale(), sinusoids,
                                       layout.positions, source_dropout, layout.row_keys}),
                   layout);  // [N, D]
  const auto embedded = positional_encoding->source(embedding->source(source.tokens),
                                                    layout.positions, layout.longest);
  return encoder(source_dropout.apply(embedded, layout.row_keys), layout);
}

torch::Tensor TransformerImpl::decode(const PackedTokens& target, const torch::Tensor& memory,
                                      const PackedLayout& source) {
  PackedDecoderAttention attention(memory, source, target.layout);
  // One product costs a GPU less than one for each layer. On the CPU it may round in another way.
  if (!runs_kernels_on(memory.device())) attention.project_memory(*decoder);
  return decode(target, attention);
}

torch::Tensor TransformerImpl::decode(const PackedTokens& target, DecoderAttention& attention) {
  const PackedLayout& layout = target.layout;
  return decoder_states({shifted_right(target), layout.positions, layout.longest, layout.row_keys},
                        attention);
}

torch::Tensor TransformerImpl::decoder_states(const DecoderInputs& inputs,
                                              DecoderAttention& attention) {
  const auto weight = embedding->target_weight();
  const auto sinusoids = positional_encoding->sinusoids(weight, inputs.length);
  if (sinusoids.defined())
    return decoder(embed_at_positions({inputs.tokens, weight, embedding->scale(), sinusoids,
                                       inputs.positions, target_dropout, inputs.row_keys}),
                   attention, inputs.row_keys);
  const auto embedded = positional_encoding->target(embedding->target(inputs.tokens),
                                                    inputs.positions, inputs.length);
  return decoder(target_dropout.apply(embedded, inputs.row_keys), attention, inputs.row_keys);
}

torch::Tensor TransformerImpl::logits(const torch::Tensor& hidden) {
  return torch::nn::functional::linear(hidden, output_weight(), output_bias());  // [N, V]
}

torch::Tensor TransformerImpl::output_weight() const {
  return output->weight.defined() ? output->weight : embedding->target_weight();
}

torch::Tensor TransformerImpl::output_bias() const { return output->bias; }

void TransformerImpl::initialize(std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  std::uint64_t number = 0;
  for (auto& item : named_parameters()) {
    auto& parameter = item.value();
    auto generator = at::detail::createCPUGenerator(random_bits(seed, number++));
    const std::string& name = item.key();
    const bool embeds =
        name.starts_with("embedding.") || name.starts_with("positions.") || name == "output.weight";
    auto values = torch::empty(parameter.sizes(), torch::kFloat32);
    if (name.find("norm.") != std::string::npos) {
      values.fill_(name.ends_with("weight") ? 1 : 0);
    } else if (name.ends_with("bias")) {
      values.zero_();
    } else if (embeds) {
      values.normal_(0, std::pow(static_cast<double>(config.d_model), -0.5), generator);
    } else {
      const double bound = std::sqrt(6.0 / static_cast<double>(values.size(0) + values.size(1)));
      values.uniform_(-bound, bound, generator);
    }
    parameter.copy_(values);
  }
}

Transformer load_transformer(const ModelFileReader& file, torch::Device device,
                             torch::ScalarType type) {
  Transformer model(file.config());
  for (auto& item : model->named_parameters()) {
    torch::Tensor& parameter = item.value();
    parameter.requires_grad_(false);
    file.read_floats(item.key(), {parameter.mutable_data_ptr<float>(),
                                  static_cast<std::size_t>(parameter.numel())});
  }
  model->to(device, type);
  return model;
}

}  // namespace dragoman
