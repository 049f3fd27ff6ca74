#include "inference/torch/scorer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "base/threads.h"
#include "model/device.h"

namespace dragoman {

namespace {

using Indices = std::vector<std::size_t>;

constexpr std::int64_t kChunkTokens = 512;  // logits [512, V] exist at a time

/// Batches of pairs, from short to long.
std::vector<Indices> batches_of(std::span<const SentencePair> pairs, std::int64_t max_tokens) {
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

/// Sentences one after the other.
struct PackedSentences {
  std::vector<std::int32_t> tokens, starts = {0};

  void add(std::span<const TokenId> sentence) {
    tokens.insert(tokens.end(), sentence.begin(), sentence.end());
    starts.push_back(static_cast<std::int32_t>(tokens.size()));
  }
  PackedTokens on_device_of(const Transformer& model) const {
    return packed_tokens(tokens, starts, model->config.heads, model->output_weight().device());
  }
};

PackedSentences side_of(std::span<const SentencePair> pairs, const Indices& batch,
                        std::vector<TokenId> SentencePair::*side) {
  PackedSentences sentences;
  for (std::size_t index : batch) sentences.add(pairs[index].*side);
  return sentences;
}

/// The log-probabilities of the tokens of a batch's targets, side by side [N].
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

/// Pairs that go through the model, and where their values go.
struct Scoring {
  Transformer& model;
  std::span<const SentencePair> pairs;
  std::vector<std::vector<float>>& scores;

  /// A lower bound of the memory of attention on the CPU (attention_memory); 0 on other devices.
  std::int64_t memory_of(const Indices& batch) const {
    if (!model->output_weight().device().is_cpu()) return 0;
    const auto source = side_of(pairs, batch, &SentencePair::source);
    const auto target = side_of(pairs, batch, &SentencePair::target);
    return attention_memory(model->config, {source.starts, target.starts}, sizeof(float),
                            Pass::Forward);
  }

  void score(const Indices& batch) const {
    const torch::NoGradGuard no_grad;
    const auto source = side_of(pairs, batch, &SentencePair::source);
    const auto target = side_of(pairs, batch, &SentencePair::target);
    const auto values =
        log_probabilities(model, source.on_device_of(model), target.on_device_of(model));
    const float* next = values.const_data_ptr<float>();
    for (std::size_t index : batch) {
      scores[index].assign(next, next + pairs[index].target.size());
      next += pairs[index].target.size();
    }
  }

  /// Scores a batch that may take much of the memory.
  void score_large(const Indices& batch, std::int64_t bytes) const {
    try {
      require_memory(bytes);
      score(batch);
    } catch (const std::exception& problem) {
      if (!is_out_of_memory(problem)) throw;
      throw Error("not enough memory to score ", batch.size() == 1 ? "a pair" : "pairs", " of ",
                  longer_side(pairs[batch.back()]),
                  " pieces on a side; a lower --max-tokens or --max-length needs less");
    }
  }
};

}  // namespace

std::vector<std::vector<float>> token_log_probabilities(Transformer& model,
                                                        std::span<const SentencePair> pairs,
                                                        std::int64_t max_tokens,
                                                        std::stop_token stop) {
  check_lengths(pairs, model->config.longest_sentence());
  const bool on_cpu = model->output_weight().device().is_cpu();
  const std::int64_t threads = on_cpu ? at::get_num_threads() : 1;
  std::vector<std::vector<float>> scores(pairs.size());
  const Scoring scoring{model, pairs, scores};
  std::vector<Indices> together;
  for (Indices& batch : batches_of(pairs, tokens_of_worker(max_tokens, threads))) {
    const std::int64_t bytes = scoring.memory_of(batch);
    if (threads > 1 && bytes == 0)
      together.push_back(std::move(batch));
    else if (!stop.stop_requested())
      scoring.score_large(batch, bytes);
  }
  std::atomic<std::size_t> taken = 0;
  ThreadTeam team;
  if (!together.empty())
    run_side_by_side(team, static_cast<std::size_t>(threads), [&](std::size_t) {
      // The longest first, so that threads end together.
      for (std::size_t i; (i = ++taken) <= together.size() && !stop.stop_requested();)
        scoring.score(together[together.size() - i]);
    });
  return scores;
}

}  // namespace dragoman
