// The activations that the CPU engine writes for a sentence equal those of the module tree.
#include "inference/cpu/cpu_engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "model/file/model_file.h"
#include "tests/inference/random_rows.h"

namespace dragoman {
namespace {

const Tokens kSource = {5, 9, 4, 4, 17, 6, kEos};
const Tokens kTarget = {8, 3, 12, 7, kEos};

/// One attention sub-layer by the formulas of section 3.2.
struct ExpectedAttention {
  torch::Tensor query, key, value, context, output;
};

torch::Tensor heads_first(const torch::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), heads, -1}).transpose(0, 1);  // [H, N, d_k]
}

ExpectedAttention attend(MultiHeadAttention& module, const torch::Tensor& x,
                         const torch::Tensor& memory, bool causal) {
  const torch::Tensor q = module->query(x), k = module->key(memory), v = module->value(memory);
  const auto d_k = static_cast<double>(q.size(1) / module->heads);
  torch::Tensor scores =
      heads_first(q, module->heads).matmul(heads_first(k, module->heads).transpose(1, 2)) /
      std::sqrt(d_k);
  if (causal)
    scores = scores.masked_fill(torch::ones({q.size(0), k.size(0)}).triu(1).to(torch::kBool),
                                -std::numeric_limits<double>::infinity());
  const torch::Tensor weights = scores.softmax(-1);
  const torch::Tensor context =
      weights.matmul(heads_first(v, module->heads)).transpose(0, 1).reshape(q.sizes());
  return {q, k, v, context, module->output(context)};
}

/// Keeps the inputs and outputs of each layer's attention.
class WatchedAttention : public PackedDecoderAttention {
 public:
  WatchedAttention(const torch::Tensor& memory, const PackedLayout& source,
                   const PackedLayout& target)
      : PackedDecoderAttention(memory, source, target) {}

  torch::Tensor self(std::int64_t layer, MultiHeadAttention& module,
                     const SelfAttentionInput& x) override {
    self_.push_back(attend(module, x.queries, x.keys, true));
    return PackedDecoderAttention::self(layer, module, x);
  }
  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override {
    cross_.push_back(attend(module, x, memory(), false));
    return PackedDecoderAttention::cross(layer, module, x);
  }

  std::vector<ExpectedAttention> self_, cross_;
};

std::vector<ExpectedAttention> encoder_attention(Transformer& model, const PackedTokens& source) {
  const PackedLayout& layout = source.layout;
  const torch::Tensor embedded = model->positional_encoding->source(
      model->embedding->source(source.tokens), layout.positions, layout.longest);
  ResidualStream stream{normalized_if_asked(model->encoder->embedding_norm, embedded), {}, {}};
  std::vector<ExpectedAttention> all;
  for (const auto& item : *model->encoder->layers) {
    auto& layer = *item->as<EncoderLayerImpl>();
    const NormPosition norm = model->config.norm;
    const NormalizedSum input = norm == NormPosition::After
                                    ? NormalizedSum{stream.residual, stream.residual}
                                    : stream.normalize(layer.self_attention_norm, layout.row_keys);
    all.push_back(attend(layer.self_attention, input.normalized,
                         norm == NormPosition::BeforeQueries ? input.sum : input.normalized,
                         false));
    stream = layer.forward(stream, layout);
  }
  return all;
}

PackedTokens packed(const Tokens& tokens, const ModelConfig& config) {
  const std::vector<std::int32_t> starts = {0, static_cast<std::int32_t>(tokens.size())};
  return packed_tokens(tokens, starts, config.heads, torch::kCPU);
}

void expect_near(const torch::Tensor& expected, const std::vector<float>& found,
                 const std::string& name) {
  const torch::Tensor flat = expected.contiguous().view(-1);
  ASSERT_EQ(flat.size(0), static_cast<std::int64_t>(found.size())) << name;
  for (std::int64_t i = 0; i < flat.size(0); ++i)
    ASSERT_NEAR(flat[i].item<float>(), found[static_cast<std::size_t>(i)], 1e-4)
        << name << ", number " << i;
}

void expect_equal(const std::vector<ExpectedAttention>& expected,
                  const std::vector<Activations::Attention>& found, const std::string& name) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t layer = 0; layer < found.size(); ++layer) {
    const std::string place = name + " " + std::to_string(layer);
    expect_near(expected[layer].query, found[layer].query, place + " query");
    expect_near(expected[layer].key, found[layer].key, place + " key");
    expect_near(expected[layer].value, found[layer].value, place + " value");
    expect_near(expected[layer].context, found[layer].context, place + " context");
    expect_near(expected[layer].output, found[layer].output, place + " output");
  }
}

std::shared_ptr<const CpuModel> packed_model(const Transformer& model) {
  return std::make_shared<CpuModel>(ParametersInMemory(model->config, tensors_of(model)),
                                    ComputeType::Float32);
}

/// The activations of one sentence and its translation, step by step.
Activations recorded(const Transformer& model) {
  CpuEngine engine(packed_model(model), {});
  Activations activations;
  engine.observe(&activations);
  const std::int32_t slot = engine.admit({&kSource, 1}).front();
  for (std::size_t t = 0; t < kTarget.size(); ++t) {
    const RowOrigin origin{.parent = t == 0 ? -1 : 0, .slot = slot};
    step(engine, {&origin, 1}, {t == 0 ? kEos : kTarget[t - 1]}, 1);
  }
  engine.observe(nullptr);
  const RowOrigin again{.parent = 0, .slot = slot};
  step(engine, {&again, 1}, {4}, 1);  // is not written
  engine.release({&slot, 1});
  return activations;
}

torch::Tensor rows_of(const std::vector<float>& numbers, std::int64_t columns) {
  return torch::tensor(numbers).view({-1, columns});
}

/// A sub-layer as the engine wrote it, and the norm around it.
struct FoundSubLayer {
  std::string name;
  const std::vector<float>&stream, &output;
  torch::nn::LayerNorm norm;
};

/// Follows the residual stream from `first` to `last` by section 3.1. A norm follows the stack,
/// unless norm = after, and another one may precede it.
void expect_stream(const std::vector<FoundSubLayer>& sub_layers, const std::vector<float>& first,
                   const std::vector<float>& last, auto& stack) {
  const std::int64_t width = sub_layers.front().norm->weight.size(0);
  torch::nn::LayerNorm end = stack->norm;
  torch::Tensor stream = normalized_if_asked(stack->embedding_norm, rows_of(first, width));
  for (const auto& [name, found, output, norm] : sub_layers) {
    expect_near(stream, found, name + " stream");
    stream = stream + rows_of(output, width);
    if (end.is_empty()) stream = torch::nn::LayerNorm(norm)(stream);
  }
  expect_near(end.is_empty() ? stream : end(stream), last, "last");
}

void expect_equal(FeedForward& module, const Activations::FeedForward& found, std::int64_t width,
                  const std::string& name) {
  const torch::Tensor output = module->forward(rows_of(found.input, width), {});
  expect_near(output, found.output, name + " output");
  const std::int64_t inner = module->outer->weight.size(1);
  expect_near(module->outer(rows_of(found.hidden, inner)), found.output, name + " hidden");
}

/// Adds the feed-forward network of a layer of either stack, and compares it with the one found.
void add_feed_forward(std::vector<FoundSubLayer>& sub_layers, auto& layer,
                      const Activations::FeedForward& found, const std::string& name) {
  sub_layers.push_back({name, found.stream, found.output, layer.feed_forward_norm});
  const std::int64_t width = layer.feed_forward->outer->weight.size(0);
  expect_equal(layer.feed_forward, found, width, name);
}

void expect_encoder(Transformer& model, const Activations& found, const torch::Tensor& memory) {
  std::vector<FoundSubLayer> sub_layers;
  for (std::size_t i = 0; i < found.encoder.size(); ++i) {
    auto& layer = *model->encoder->layers[i]->as<EncoderLayerImpl>();
    sub_layers.push_back({"encoder attention", found.encoder[i].stream, found.encoder[i].output,
                          layer.self_attention_norm});
    add_feed_forward(sub_layers, layer, found.encoder_feed_forward[i], "encoder feed-forward");
  }
  expect_stream(sub_layers, found.source.sum, found.memory, model->encoder);
  expect_near(memory, found.memory, "memory");
}

void expect_decoder(Transformer& model, const Activations& found, const torch::Tensor& decoded) {
  std::vector<FoundSubLayer> sub_layers;
  for (std::size_t i = 0; i < found.decoder.size(); ++i) {
    auto& layer = *model->decoder->layers[i]->as<DecoderLayerImpl>();
    sub_layers.push_back({"decoder attention", found.decoder[i].stream, found.decoder[i].output,
                          layer.self_attention_norm});
    sub_layers.push_back({"cross-attention", found.cross[i].stream, found.cross[i].output,
                          layer.cross_attention_norm});
    add_feed_forward(sub_layers, layer, found.decoder_feed_forward[i], "decoder feed-forward");
  }
  expect_stream(sub_layers, found.target.sum, found.decoded, model->decoder);
  expect_near(decoded, found.decoded, "decoded");
}

TEST(Activations, ActivationsAreThoseOfTheModuleTree) {
  const torch::NoGradGuard no_grad;
  std::vector<ModelConfig> all = configs();
  all.push_back(all.front());
  all.back().heads = 4;
  all.back().norm = NormPosition::Before;
  for (const ModelConfig& config : all) {
    Transformer model = make_model(config, torch::kCPU);
    const Activations found = recorded(model);
    const PackedTokens source = packed(kSource, config), target = packed(kTarget, config);
    const torch::Tensor memory = model->encode(source);
    WatchedAttention attention(memory, source.layout, target.layout);
    const torch::Tensor decoded = model->decode(target, attention);
    expect_equal(encoder_attention(model, source), found.encoder, "encoder");
    expect_equal(attention.self_, found.decoder, "decoder");
    expect_equal(attention.cross_, found.cross, "cross");
    expect_near(model->embedding->source(source.tokens), found.source.token, "source token");
    expect_near(model->positional_encoding->source(model->embedding->source(source.tokens),
                                                   source.layout.positions, source.layout.longest),
                found.source.sum, "source sum");
    expect_encoder(model, found, memory);
    expect_decoder(model, found, decoded);
  }
}

}  // namespace
}  // namespace dragoman
