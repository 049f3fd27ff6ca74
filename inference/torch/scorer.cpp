#include "inference/torch/scorer.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace dragoman {

namespace {

using Indices = std::vector<std::size_t>;

constexpr std::int64_t kChunkTokens = 512;  // logits [512, V] exist at a time

std::int64_t longer_side(const TokenPair& pair) {
  return static_cast<std::int64_t>(std::max(pair.source.size(), pair.target.size()));
}

void check_lengths(std::span<const TokenPair> pairs, const ModelConfig& config) {
  if (config.positions != Positions::Learned) return;
  for (const TokenPair& pair : pairs)
    if (longer_side(pair) > config.max_positions)
      throw Error("a sentence of ", longer_side(pair), " pieces cannot be scored: the model has ",
                  config.max_positions, " learned positions");
}

/// From short to long.
std::vector<Indices> batches_of(std::span<const TokenPair> pairs, std::int64_t max_tokens) {
  Indices order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [pairs](std::size_t a, std::size_t b) {
    return longer_side(pairs[a]) < longer_side(pairs[b]);
  });
  std::vector<Indices> batches;
  std::int64_t source = 0, target = 0;
  for (std::size_t index : order) {
    source += static_cast<std::int64_t>(pairs[index].source.size());
    target += static_cast<std::int64_t>(pairs[index].target.size());
    if (batches.empty() || std::max(source, target) > max_tokens) {
      batches.emplace_back();
      source = static_cast<std::int64_t>(pairs[index].source.size());
      target = static_cast<std::int64_t>(pairs[index].target.size());
    }
    batches.back().push_back(index);
  }
  return batches;
}

PackedTokens packed_side(std::span<const TokenPair> pairs, const Indices& batch,
                         std::vector<TokenId> TokenPair::*side, const Transformer& model) {
  std::vector<std::int32_t> tokens, starts = {0};
  for (std::size_t index : batch) {
    const auto& sentence = pairs[index].*side;
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
  }
  return packed_tokens(tokens, starts, model->config.heads, model->output_weight().device());
}

/// Of the targets of a batch, side by side [N].
torch::Tensor log_probabilities(Transformer& model, const PackedTokens& source,
                                const PackedTokens& target) {
  const auto hidden = model->decode(target, model->encode(source), source.layout);  // [N, D]
  std::vector<torch::Tensor> chunks;
  for (std::int64_t begin = 0; begin < hidden.size(0); begin += kChunkTokens) {
    const std::int64_t count = std::min(kChunkTokens, hidden.size(0) - begin);
    const auto logits = model->logits(hidden.narrow(0, begin, count)).to(torch::kFloat32);
    const auto tokens = target.tokens.narrow(0, begin, count).unsqueeze(1);  // [c, 1]
    chunks.push_back(logits.log_softmax(1).gather(1, tokens).squeeze(1));    // [c]
  }
  return torch::cat(chunks).cpu();
}

}  // namespace

std::vector<std::vector<float>> token_log_probabilities(Transformer& model,
                                                        std::span<const TokenPair> pairs,
                                                        std::int64_t max_tokens,
                                                        std::stop_token stop) {
  const torch::NoGradGuard no_grad;
  check_lengths(pairs, model->config);
  std::vector<std::vector<float>> scores(pairs.size());
  for (const Indices& batch : batches_of(pairs, max_tokens)) {
    if (stop.stop_requested()) break;
    const auto values =
        log_probabilities(model, packed_side(pairs, batch, &TokenPair::source, model),
                          packed_side(pairs, batch, &TokenPair::target, model));
    const float* next = values.const_data_ptr<float>();
    for (std::size_t index : batch) {
      scores[index].assign(next, next + pairs[index].target.size());
      next += pairs[index].target.size();
    }
  }
  return scores;
}

}  // namespace dragoman
