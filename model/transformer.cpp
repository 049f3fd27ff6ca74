#include "model/transformer.h"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/functional/linear.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "model/dropout_sites.h"
#include "model/ops/to_device.h"

namespace dragoman {

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
      embedding(config),
      positional_encoding(config),
      encoder(config),
      decoder(config),
      output(config),
      source_dropout{config.dropout, dropout_site(EmbeddingDropout::Source)},
      target_dropout{config.dropout, dropout_site(EmbeddingDropout::Target)} {
  register_module("embedding", embedding);
  register_module("positions", positional_encoding);
  register_module("encoder", encoder);
  register_module("decoder", decoder);
  register_module("output", output);
}

torch::Tensor TransformerImpl::encode(const PackedTokens& source) {
  const PackedLayout& layout = source.layout;
  const auto embedded = positional_encoding->source(embedding->source(source.tokens),
                                                    layout.positions, layout.longest);
  return encoder(source_dropout.apply(embedded, layout.row_keys), layout);  // [N, D]
}

torch::Tensor TransformerImpl::decode(const PackedTokens& target, const torch::Tensor& memory,
                                      const PackedLayout& source) {
  PackedDecoderAttention attention(memory, source, target.layout);
  return decode(target, attention);
}

torch::Tensor TransformerImpl::decode(const PackedTokens& target, DecoderAttention& attention) {
  const PackedLayout& layout = target.layout;
  return decoder_states({shifted_right(target), layout.positions, layout.longest, layout.row_keys},
                        attention);
}

torch::Tensor TransformerImpl::decoder_states(const DecoderInputs& inputs,
                                              DecoderAttention& attention) {
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

PackedTokens packed_tokens(std::span<const std::int32_t> tokens,
                           std::span<const std::int32_t> starts, std::int64_t heads,
                           torch::Device device, std::int64_t row_multiple,
                           std::int64_t least_longest) {
  auto layout = PackedLayout::from_starts(starts, heads, device, row_multiple, least_longest);
  std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  ids.resize(static_cast<std::size_t>(layout.rows), -1);
  return {to_device(ids, device), std::move(layout)};
}

}  // namespace dragoman
