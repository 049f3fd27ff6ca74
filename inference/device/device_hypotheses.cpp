#include "inference/device/device_search.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace dragoman {

EndedHypotheses::EndedHypotheses(std::int64_t groups, std::int64_t most,
                                 torch::TensorOptions integers)
    : most_(most) {
  const std::vector<std::int64_t> shape = {groups, most};
  const auto doubles = integers.dtype(torch::kFloat64);
  ended_ = {.score = torch::full(shape, -INFINITY, doubles),
            .sum = torch::zeros(shape, doubles),
            .penalty = torch::zeros(shape, doubles),
            .length = torch::zeros(shape, integers),
            .count = torch::zeros(shape, integers),
            .row = torch::zeros(shape, integers),
            .cut = torch::zeros(shape, integers.dtype(torch::kBool))};
}

void EndedHypotheses::add(const std::vector<Ended>& more) {
  const auto joined = [&](torch::Tensor Ended::*member) {
    std::vector<torch::Tensor> all = {ended_.*member};
    for (const Ended& some : more) all.push_back((some.*member).expand_as(some.row));
    return torch::cat(all, 1);
  };
  const auto sorted = joined(&Ended::score).sort(/*stable=*/true, 1, /*descending=*/true);
  const auto best = std::get<1>(sorted).narrow(1, 0, most_);
  Ended kept;
  for (const auto member : Ended::kAll) kept.*member = joined(member).gather(1, best);
  ended_ = kept;
}

torch::Tensor EndedHypotheses::has(std::int64_t count) const {
  return ended_.score.gt(-INFINITY).sum(1).ge(count);
}

namespace {

/// A copy on the host, of the n groups that are asked for.
struct HostTree {
  torch::Tensor scores;                              // [n, N, 3]: score, sum, coverage penalty
  torch::Tensor counts;                              // [n, N, 4]: length, count, row, cut
  torch::Tensor parents, tokens, log_probabilities;  // [n, T, B]
  torch::Tensor attention;                           // [n, T, B, S], or undefined
  torch::Tensor source_lengths;                      // [n]
};

Hypothesis hypothesis_of(const HostTree& tree, std::int64_t group, std::int64_t rank) {
  const auto scores = tree.scores.accessor<double, 3>()[group][rank];
  const auto counts = tree.counts.accessor<std::int64_t, 3>()[group][rank];
  const std::int64_t length = counts[0], count = counts[1];
  const std::int64_t source =
      tree.attention.defined() ? tree.source_lengths.accessor<std::int64_t, 1>()[group] : 0;
  Hypothesis hypothesis{.tokens = std::vector<TokenId>(static_cast<std::size_t>(count)),
                        .length = length,
                        .sum = scores[1],
                        .coverage_penalty = scores[2],
                        .score = scores[0],
                        .cut = counts[3] != 0,
                        .log_probabilities = std::vector<float>(static_cast<std::size_t>(length)),
                        .attention = std::vector<float>(static_cast<std::size_t>(count * source))};
  const auto tokens = tree.tokens.accessor<std::int64_t, 3>()[group],
             parents = tree.parents.accessor<std::int64_t, 3>()[group];
  const auto log_probabilities = tree.log_probabilities.accessor<float, 3>()[group];
  double before_eos = 0;
  std::int64_t row = counts[2];
  for (std::int64_t t = count; t-- > 0; row = parents[t][row]) {
    const auto at = static_cast<std::size_t>(t);
    hypothesis.tokens[at] = static_cast<TokenId>(tokens[t][row]);
    hypothesis.log_probabilities[at] = log_probabilities[t][row];
    before_eos += log_probabilities[t][row];
    for (std::int64_t s = 0; s < source; ++s)
      hypothesis.attention[static_cast<std::size_t>(t * source + s)] =
          tree.attention.accessor<float, 4>()[group][t][row][s];
  }
  if (length > count)
    hypothesis.log_probabilities[static_cast<std::size_t>(count)] =
        static_cast<float>(hypothesis.sum - before_eos);
  return hypothesis;
}

}  // namespace

torch::Tensor widened(const torch::Tensor& tensor, std::int64_t dim, std::int64_t size) {
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape[static_cast<std::size_t>(dim)] = size;
  auto wide = torch::zeros(shape, tensor.options());
  wide.narrow(dim, 0, tensor.size(dim)).copy_(tensor);
  return wide;
}

HypothesisTree::HypothesisTree(std::int64_t groups, std::int64_t rows, bool keeps_attention,
                               torch::TensorOptions integers)
    : groups_(groups), rows_(rows) {
  const auto floats = integers.dtype(torch::kFloat32);
  parents_ = torch::zeros({groups, 0, rows}, integers);
  tokens_ = torch::zeros({groups, 0, rows}, integers);
  log_probabilities_ = torch::zeros({groups, 0, rows}, floats);
  if (keeps_attention) attention_ = torch::zeros({groups, 0, rows, 0}, floats);
}

void HypothesisTree::make_room(std::int64_t tokens, std::int64_t source) {
  if (tokens > tokens_.size(1))
    for (auto* nodes : {&parents_, &tokens_, &log_probabilities_, &attention_})
      if (nodes->defined()) *nodes = widened(*nodes, 1, tokens);
  if (attention_.defined() && source > attention_.size(3))
    attention_ = widened(attention_, 3, source);
}

void HypothesisTree::add(const Nodes& nodes, const torch::Tensor& places) {
  const auto place = places.view({groups_, 1, 1}).expand({groups_, 1, rows_});
  parents_.scatter_(1, place, nodes.parents.unsqueeze(1));
  tokens_.scatter_(1, place, nodes.tokens.unsqueeze(1));
  log_probabilities_.scatter_(1, place, nodes.log_probabilities.unsqueeze(1));
  if (!attention_.defined()) return;
  attention_.scatter_(1, place.unsqueeze(3).expand({groups_, 1, rows_, attention_.size(3)}),
                      nodes.attention.unsqueeze(1));
}

std::vector<std::vector<Hypothesis>> HypothesisTree::trace(
    const Ended& ended, const torch::Tensor& groups, std::int64_t most,
    const torch::Tensor& source_lengths) const {
  const auto on_host = [&groups](const torch::Tensor& tensor) {
    return tensor.index_select(0, groups).cpu().contiguous();
  };
  const HostTree tree{.scores = on_host(torch::stack({ended.score, ended.sum, ended.penalty}, 2)),
                      .counts = on_host(torch::stack(
                          {ended.length, ended.count, ended.row, ended.cut.to(torch::kInt64)}, 2)),
                      .parents = on_host(parents_),
                      .tokens = on_host(tokens_),
                      .log_probabilities = on_host(log_probabilities_),
                      .attention = attention_.defined() ? on_host(attention_) : torch::Tensor(),
                      .source_lengths = on_host(source_lengths)};
  std::vector<std::vector<Hypothesis>> best(static_cast<std::size_t>(groups.size(0)));
  const auto scores = tree.scores.accessor<double, 3>();
  for (std::int64_t group = 0; group < groups.size(0); ++group)
    for (std::int64_t rank = 0; rank < most && scores[group][rank][0] > -INFINITY; ++rank)
      best[static_cast<std::size_t>(group)].push_back(hypothesis_of(tree, group, rank));
  return best;
}

}  // namespace dragoman
