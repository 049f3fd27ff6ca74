// The module tree against LibTorch's own Transformer layers with the same weights: another
// implementation of the paper, on padded batches with masks.
#include <torch/nn/modules/transformercoder.h>
#include <torch/nn/modules/transformerlayer.h>

#include <cmath>
#include <limits>

#include "tests/model/examples.h"

namespace dragoman {
namespace {

/// Our parameters that are stacked in one parameter of LibTorch's.
struct Match {
  std::vector<torch::Tensor> ours;
  torch::Tensor theirs;
};

template <class Ours, class Theirs>
void match(const Ours& ours, const Theirs& theirs, std::vector<Match>& matches) {
  matches.push_back({{ours->weight}, theirs->weight});
  matches.push_back({{ours->bias}, theirs->bias});
}

void match(MultiHeadAttention& ours, torch::nn::MultiheadAttention& theirs,
           std::vector<Match>& matches) {
  matches.push_back(
      {{ours->query->weight, ours->key->weight, ours->value->weight}, theirs->in_proj_weight});
  matches.push_back(
      {{ours->query->bias, ours->key->bias, ours->value->bias}, theirs->in_proj_bias});
  match(ours->output, theirs->out_proj, matches);
}

void match(EncoderLayerImpl& ours, torch::nn::TransformerEncoderLayerImpl& theirs,
           std::vector<Match>& matches) {
  match(ours.self_attention, theirs.self_attn, matches);
  match(ours.self_attention_norm, theirs.norm1, matches);
  match(ours.feed_forward->inner, theirs.linear1, matches);
  match(ours.feed_forward->outer, theirs.linear2, matches);
  match(ours.feed_forward_norm, theirs.norm2, matches);
}

void match(DecoderLayerImpl& ours, torch::nn::TransformerDecoderLayerImpl& theirs,
           std::vector<Match>& matches) {
  match(ours.self_attention, theirs.self_attn, matches);
  match(ours.self_attention_norm, theirs.norm1, matches);
  match(ours.cross_attention, theirs.multihead_attn, matches);
  match(ours.cross_attention_norm, theirs.norm2, matches);
  match(ours.feed_forward->inner, theirs.linear1, matches);
  match(ours.feed_forward->outer, theirs.linear2, matches);
  match(ours.feed_forward_norm, theirs.norm3, matches);
}

/// Closed-form numbers for both sides of each match.
void fill(const std::vector<Match>& matches) {
  const torch::NoGradGuard no_grad;
  double shift = 0;
  for (const Match& match : matches) {
    for (torch::Tensor ours : match.ours) ours.copy_(closed_form(ours.sizes(), shift += 0.1) * 0.4);
    match.theirs.detach().copy_(torch::cat(match.ours));
  }
}

void expect_same_gradients(const std::vector<Match>& matches) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    std::vector<torch::Tensor> ours;
    for (const torch::Tensor& part : matches[i].ours) ours.push_back(part.grad());
    expect_close(torch::cat(ours), matches[i].theirs.grad(), 1e-5, "gradient " + std::to_string(i));
  }
}

/// One side of a batch, packed for us and padded for them.
struct Side {
  PackedLayout layout;
  torch::Tensor sentence;  // [N] of each token
  torch::Tensor ignored;   // [B, L] true at padding

  explicit Side(const std::vector<std::int32_t>& starts)
      : layout(PackedLayout::from_starts(starts, small_config().heads, test_device())) {
    const auto places = torch::arange(layout.longest, layout.lengths.options());
    ignored = places.unsqueeze(0) >= layout.lengths.unsqueeze(1);
    sentence = torch::arange(layout.sentences, layout.positions.options())
                   .repeat_interleave(layout.lengths.to(torch::kInt64));
  }

  /// [N, D] -> [L, B, D], 9 at padding.
  torch::Tensor pad(const torch::Tensor& x) const {
    const auto padded =
        torch::full({layout.longest, layout.sentences, x.size(1)}, 9.0, x.options());
    return padded.index_put({layout.positions, sentence}, x);
  }
  /// [L, B, D] -> [N, D].
  torch::Tensor unpad(const torch::Tensor& x) const {
    return x.index({layout.positions, sentence});
  }
  /// [L, L], -inf above the diagonal.
  torch::Tensor causal_mask() const {
    return torch::full({layout.longest, layout.longest}, -std::numeric_limits<float>::infinity(),
                       torch::TensorOptions(test_device()))
        .triu(1);
  }
};

class TorchLayers : public testing::Test {
 protected:
  torch::Tensor source_rows(double shift) const {
    return closed_form({source_.layout.tokens, config_.d_model}, shift);
  }
  torch::Tensor target_rows(double shift) const {
    return closed_form({target_.layout.tokens, config_.d_model}, shift);
  }
  torch::nn::TransformerEncoderLayerOptions encoder_options() const {
    return torch::nn::TransformerEncoderLayerOptions(config_.d_model, config_.heads)
        .dim_feedforward(config_.d_ff)
        .dropout(0);
  }
  torch::nn::TransformerDecoderLayerOptions decoder_options() const {
    return torch::nn::TransformerDecoderLayerOptions(config_.d_model, config_.heads)
        .dim_feedforward(config_.d_ff)
        .dropout(0);
  }

  const ModelConfig config_ = small_config();
  const Side source_{{0, 3, 11, 12}}, target_{{0, 5, 7, 14}};
};

TEST_F(TorchLayers, MultiHeadAttentionIsThatOfLibTorch) {
  MultiHeadAttention ours(config_, 0);
  torch::nn::MultiheadAttention theirs(config_.d_model, config_.heads);
  ours->to(test_device());
  theirs->to(test_device());
  std::vector<Match> matches;
  match(ours, theirs, matches);
  fill(matches);
  const auto x = target_rows(0.3), memory = source_rows(0.6), direction = target_rows(0.9);
  const auto padded = source_.pad(memory);
  const auto expected =
      target_.unpad(std::get<0>(theirs(target_.pad(x), padded, padded, source_.ignored)));
  const auto result = ours->cross(x, memory, target_.layout, source_.layout);
  expect_close(result, expected, 1e-5);
  result.backward(direction);
  expected.backward(direction);
  expect_same_gradients(matches);
}

TEST_F(TorchLayers, TheEncoderLayerIsThatOfLibTorch) {
  EncoderLayer ours(config_, 0);
  torch::nn::TransformerEncoderLayer theirs(encoder_options());
  ours->to(test_device());
  theirs->to(test_device());
  std::vector<Match> matches;
  match(*ours, *theirs, matches);
  fill(matches);
  const auto x = source_rows(0.3).requires_grad_(), y = source_rows(0.3).requires_grad_();
  const auto result = ours(ResidualStream{x, {}, {}}, source_.layout).value({});
  const auto expected = source_.unpad(theirs(source_.pad(y), torch::Tensor(), source_.ignored));
  expect_close(result, expected, 1e-5);
  result.backward(source_rows(0.9));
  expected.backward(source_rows(0.9));
  expect_close(x.grad(), y.grad(), 1e-5, "gradient of the input");
  expect_same_gradients(matches);
}

TEST_F(TorchLayers, TheDecoderLayerIsThatOfLibTorch) {
  DecoderLayer ours(config_, 0);
  torch::nn::TransformerDecoderLayer theirs(decoder_options());
  ours->to(test_device());
  theirs->to(test_device());
  std::vector<Match> matches;
  match(*ours, *theirs, matches);
  fill(matches);
  const auto x = target_rows(0.3).requires_grad_(), y = target_rows(0.3).requires_grad_();
  const auto memory = source_rows(0.6).requires_grad_();
  const auto their_memory = source_rows(0.6).requires_grad_();
  PackedDecoderAttention attention(memory, source_.layout, target_.layout);
  const auto result = ours(ResidualStream{x, {}, {}}, attention, torch::Tensor()).value({});
  const auto expected =
      target_.unpad(theirs(target_.pad(y), source_.pad(their_memory), target_.causal_mask(),
                           torch::Tensor(), target_.ignored, source_.ignored));
  expect_close(result, expected, 1e-5);
  result.backward(target_rows(0.9));
  expected.backward(target_rows(0.9));
  expect_close(x.grad(), y.grad(), 1e-5, "gradient of the input");
  expect_close(memory.grad(), their_memory.grad(), 1e-5, "gradient of the memory");
  expect_same_gradients(matches);
}

/// scale * embedding + sinusoidal encoding of the given tokens (-1: the zero vector).
torch::Tensor embedded(Transformer& model, const PackedTokens& side, const torch::Tensor& tokens) {
  const auto rows = model->embedding->source_weight().index({tokens.clamp_min(0)});
  const auto inside = (tokens >= 0).unsqueeze(1);
  const auto encoding = sinusoidal_encoding(side.layout.longest, model->config.d_model);
  return rows * inside * std::sqrt(static_cast<double>(model->config.d_model)) +
         encoding.to(test_device()).index({side.layout.positions});
}

TEST_F(TorchLayers, TheTransformerIsThatOfLibTorchFromTokensToHiddenStates) {
  auto model = initialized(config_);
  torch::nn::TransformerEncoder encoder(torch::nn::TransformerEncoderLayer(encoder_options()),
                                        config_.encoder_layers);
  torch::nn::TransformerDecoder decoder(torch::nn::TransformerDecoderLayer(decoder_options()),
                                        config_.decoder_layers);
  encoder->to(test_device());
  decoder->to(test_device());
  std::vector<Match> matches;
  for (std::int64_t i = 0; i < config_.encoder_layers; ++i)
    match(*model->encoder->layers->ptr<EncoderLayerImpl>(i),
          *encoder->layers->ptr<torch::nn::TransformerEncoderLayerImpl>(i), matches);
  for (std::int64_t i = 0; i < config_.decoder_layers; ++i)
    match(*model->decoder->layers->ptr<DecoderLayerImpl>(i),
          *decoder->layers->ptr<torch::nn::TransformerDecoderLayerImpl>(i), matches);
  fill(matches);

  const PackedPairs batch =
      packed(pairs_of({{3, 5}, {8, 2}, {1, 7}}), config_.heads, RowKeys::None);
  const auto memory = model->encode(batch.source);
  const auto hidden = model->decode(batch.target, memory, batch.source.layout);

  const auto source = source_.pad(embedded(model, batch.source, batch.source.tokens));
  const auto their_memory = encoder(source, torch::Tensor(), source_.ignored);
  expect_close(memory, source_.unpad(their_memory), 1e-5);
  // Targets moved right by one, from the zero vector.
  const auto tokens = batch.target.tokens;
  const auto before = torch::cat({tokens.new_full({1}, -1), tokens.slice(0, 0, -1)})
                          .masked_fill(batch.target.layout.positions == 0, -1);
  const auto target = target_.pad(embedded(model, batch.target, before));
  const auto expected = target_.unpad(decoder(target, their_memory, target_.causal_mask(),
                                              torch::Tensor(), target_.ignored, source_.ignored));
  expect_close(hidden, expected, 1e-5);
  const auto weight = model->embedding->source_weight();
  expect_close(model->logits(hidden), expected.matmul(weight.t()), 1e-5, "logits");

  hidden.backward(target_rows(0.9));
  expected.backward(target_rows(0.9));
  expect_same_gradients(matches);
}

}  // namespace
}  // namespace dragoman
