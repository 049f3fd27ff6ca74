#include "model/sublayer.h"

#include "tests/model/examples.h"

namespace dragoman {
namespace {

TEST(NormBefore, TheInputOfEachSubLayerAndTheOutputOfEachStackAreNormalised) {
  ModelConfig config = small_config();
  config.norm = NormPosition::Before;
  auto model = initialized(config);
  const PackedLayout source = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).source.layout;
  const PackedLayout target = packed(pairs_of({{3, 5}, {4, 1}}), 2, RowKeys::None).target.layout;
  const auto input = closed_form({source.tokens, 16}),
             start = closed_form({target.tokens, 16}, 0.5);

  auto x = input;
  for (const auto& module : *model->encoder->layers) {
    auto& layer = *module->as<EncoderLayerImpl>();
    const auto normed = layer.self_attention_norm(x);
    x = x + layer.self_attention->self(normed, source, AttentionMask::Sentence);
    x = x + layer.feed_forward(layer.feed_forward_norm(x), torch::Tensor());
  }
  const auto memory = model->encoder(input, source);
  expect_close(memory, model->encoder->norm(x), 1e-5);

  auto y = start;
  for (const auto& module : *model->decoder->layers) {
    auto& layer = *module->as<DecoderLayerImpl>();
    const auto normed = layer.self_attention_norm(y);
    y = y + layer.self_attention->self(normed, target, AttentionMask::Causal);
    y = y + layer.cross_attention->cross(layer.cross_attention_norm(y), memory, target, source);
    y = y + layer.feed_forward(layer.feed_forward_norm(y), torch::Tensor());
  }
  PackedDecoderAttention attention(memory, source, target);
  expect_close(model->decoder(start, attention, torch::Tensor()), model->decoder->norm(y), 1e-5);
}

}  // namespace
}  // namespace dragoman
