#include "training/loss/guided_alignment.h"

#include <cmath>
#include <cstdint>

#include "model/ops/packed_layout.h"

namespace dragoman {

BatchLinks::BatchLinks(std::span<const std::vector<PieceLink>> sentences,
                       const PackedLayout& source, const PackedLayout& target) {
  std::vector<std::int64_t> at;
  std::vector<float> weights;
  for (std::size_t b = 0; b < sentences.size(); ++b)
    for (const PieceLink& link : sentences[b]) {
      const std::int64_t row = static_cast<std::int64_t>(b) * target.longest + link.target;
      at.push_back(row * source.longest + link.source);
      weights.push_back(link.weight);
    }
  const auto device = source.positions.device();
  indices = to_device(at, device);
  link_weights = to_device(weights, device);
}

torch::Tensor log_attention_at(const torch::Tensor& indices, const torch::Tensor& queries,
                               const torch::Tensor& keys, const AttentionPattern& pattern,
                               std::int64_t head) {
  const auto widened = [](const torch::Tensor& x) {
    return x.scalar_type() == torch::kBFloat16 ? x.to(torch::kFloat32) : x;
  };
  const auto q = pad_heads(widened(queries), pattern.queries);  // [B*H, T, K]
  const auto k = pad_heads(widened(keys), pattern.keys);        // [B*H, S, K]
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(2)));
  const std::int64_t heads = pattern.queries.heads, T = q.size(1), S = k.size(1);
  const auto scores = masked_scores(torch::bmm(q, k.transpose(1, 2)), pattern, scale);
  const auto by_head = scores.log_softmax(-1).transpose(0, 1).reshape({heads, -1, T * S});
  const std::int64_t first = head == 0 ? 0 : head - 1, count = head == 0 ? heads : 1;
  return by_head.narrow(0, first, count)
             .reshape({count, -1})
             .index_select(1, indices)  // [heads, L]
             .logsumexp(0) -
         std::log(static_cast<double>(count));
}

torch::Tensor GuidedDecoderAttention::cross(std::int64_t layer, MultiHeadAttention& module,
                                            const torch::Tensor& x) {
  if (layer == choice_.layer)
    log_weights_ = log_attention_at(links_.indices, module->query(x), module->key(memory()),
                                    {target(), source(), AttentionMask::Sentence, module->dropout},
                                    choice_.head);
  return PackedDecoderAttention::cross(layer, module, x);
}

}  // namespace dragoman
