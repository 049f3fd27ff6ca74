#include "inference/search/extensions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dragoman {

namespace {

bool is_better(const Extension& a, const Extension& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  if (a.row != b.row) return a.row < b.row;
  return a.token < b.token;
}

}  // namespace

Error not_a_number() {
  return Error(
      "the model's probabilities are not numbers: the model file is damaged, or its training "
      "diverged");
}

bool is_possible(const Candidate& candidate) {
  if (std::isnan(candidate.log_probability)) throw not_a_number();
  return candidate.log_probability > -INFINITY;
}

void keep_beam(std::vector<Extension>& extensions, std::int64_t beam, TokenId eos) {
  // Each row ends at most once, so the best 2 * beam hold `beam` that go on, if there are so many.
  const std::size_t ranked = std::min(extensions.size(), 2 * static_cast<std::size_t>(beam));
  std::partial_sort(extensions.begin(), extensions.begin() + static_cast<std::ptrdiff_t>(ranked),
                    extensions.end(), is_better);
  std::size_t kept = 0;
  std::int64_t open = 0;
  for (std::size_t rank = 0; rank < ranked && open < beam; ++rank) {
    const bool ends = extensions[rank].token == eos;
    if (ends && rank >= static_cast<std::size_t>(beam)) continue;
    extensions[kept++] = extensions[rank];
    if (!ends) ++open;
  }
  extensions.resize(kept);
}

void keep_best(std::vector<Extension>& extensions, std::int64_t most) {
  const std::size_t kept = std::min(extensions.size(), static_cast<std::size_t>(most));
  std::partial_sort(extensions.begin(), extensions.begin() + static_cast<std::ptrdiff_t>(kept),
                    extensions.end(), is_better);
  extensions.resize(kept);
}

std::int64_t draw(std::span<const Candidate> candidates, const DecodeConfig& config,
                  double uniform) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (is_possible(candidates[i])) order.push_back(i);
  if (order.empty()) return -1;

  const auto more_probable = [&](std::size_t a, std::size_t b) {
    return ranks_before(candidates[a], candidates[b]);
  };
  const auto topk = static_cast<std::size_t>(config.sampling_topk);
  if (topk > 0 && topk < order.size()) {
    const auto end = order.begin() + config.sampling_topk;
    std::partial_sort(order.begin(), end, order.end(), more_probable);
    order.erase(end, order.end());
  } else if (config.sampling_topp < 1.0) {
    std::sort(order.begin(), order.end(), more_probable);
  }

  float highest = -INFINITY;
  for (const std::size_t i : order) highest = std::max(highest, candidates[i].log_probability);
  std::vector<double> weights;
  for (const std::size_t i : order) {
    const double below = static_cast<double>(candidates[i].log_probability) - highest;
    weights.push_back(std::exp(below / config.temperature));
  }
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (config.sampling_topp < 1.0) {
    double mass = 0;
    std::size_t count = 0;
    while (count < weights.size() && mass < config.sampling_topp * total) mass += weights[count++];
    weights.resize(count);
    total = mass;
  }
  double left = uniform * total;
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<std::int64_t>(order[i]);
  }
  return static_cast<std::int64_t>(order[weights.size() - 1]);
}

}  // namespace dragoman
