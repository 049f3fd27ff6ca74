#include "inference/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace dragoman {

namespace {

bool is_possible(const Candidate& candidate) {
  if (std::isnan(candidate.log_probability))
    throw Error(
        "the model's probabilities are not numbers: the model file is damaged, or its training "
        "diverged");
  return candidate.log_probability > -INFINITY;
}

bool is_better(const Extension& a, const Extension& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  if (a.row != b.row) return a.row < b.row;
  return a.token < b.token;
}

}  // namespace

double normalized_score(double sum, std::int64_t length, const DecodeConfig& config) {
  const auto count = static_cast<double>(length);
  const double base =
      config.length_penalty_kind == LengthPenalty::Average ? count : (5.0 + count) / 6.0;
  return sum / std::pow(base, config.length_penalty);
}

std::vector<Extension> keep_beam(std::vector<Extension>& pool, std::int64_t beam, TokenId eos) {
  // Each row ends at most once, so the best 2 * beam hold `beam` that go on, if there are so many.
  const std::size_t ranked = std::min(pool.size(), 2 * static_cast<std::size_t>(beam));
  std::partial_sort(pool.begin(), pool.begin() + static_cast<std::ptrdiff_t>(ranked), pool.end(),
                    is_better);
  std::vector<Extension> kept;
  std::int64_t open = 0;
  for (std::size_t rank = 0; rank < ranked && open < beam; ++rank) {
    const bool ends = pool[rank].token == eos;
    if (ends && rank >= static_cast<std::size_t>(beam)) continue;
    kept.push_back(pool[rank]);
    if (!ends) ++open;
  }
  return kept;
}

std::int64_t draw(std::span<const Candidate> candidates, const DecodeConfig& config,
                  double uniform) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (is_possible(candidates[i])) order.push_back(i);
  if (order.empty()) return -1;

  const auto more_probable = [&](std::size_t a, std::size_t b) {
    if (candidates[a].log_probability != candidates[b].log_probability)
      return candidates[a].log_probability > candidates[b].log_probability;
    return candidates[a].token < candidates[b].token;
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

SentenceSearch::SentenceSearch(const DecodeConfig& config, TokenId eos, std::int64_t max_length,
                               std::uint64_t key)
    : config_(&config), eos_(eos), max_length_(max_length), key_(key) {
  // Draws start as rows of their own; a beam starts as one.
  const auto starts = static_cast<std::int32_t>(config.sampling ? config.n_best : 1);
  for (std::int32_t sample = 0; sample < starts; ++sample)
    rows_.push_back({.parent = -1, .previous = eos, .sum = 0, .node = -1, .sample = sample});
}

std::int64_t SentenceSearch::candidates_needed(const DecodeConfig& config,
                                               std::int64_t vocabulary) {
  // Of a beam's row at most one candidate ends, so beam-size + 1 hold all that can be kept.
  std::int64_t needed = config.beam_size + 1;
  if (config.sampling) needed = config.sampling_topk > 0 ? config.sampling_topk : vocabulary;
  return std::min(needed, vocabulary);
}

bool SentenceSearch::must_go_on() const {
  return length_ < config_->min_length && length_ + 1 < max_length_;
}

std::size_t SentenceSearch::kept() const {
  return static_cast<std::size_t>(
      config_->sampling ? config_->n_best : std::max(config_->n_best, config_->beam_size));
}

void SentenceSearch::advance(std::span<const Candidate> candidates) {
  const std::vector<Extension> extensions =
      config_->sampling ? sampled_extensions(candidates) : beam_extensions(candidates);
  ++length_;
  next_rows_.clear();
  for (const Extension& extension : extensions) {
    const Row& row = rows_[static_cast<std::size_t>(extension.row)];
    if (extension.token == eos_) {
      finish(extension.sum, length_, row.node, false);
      continue;
    }
    const auto node = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({.previous = row.node, .token = extension.token});
    if (length_ == max_length_) {
      finish(extension.sum, length_, node, true);
    } else {
      next_rows_.push_back({.parent = extension.row,
                            .previous = extension.token,
                            .sum = extension.sum,
                            .node = node,
                            .sample = row.sample});
    }
  }
  rows_.swap(next_rows_);
  finished_ = no_open_row_matters();
  if (finished_) rows_.clear();
}

std::vector<Extension> SentenceSearch::beam_extensions(std::span<const Candidate> candidates) {
  const std::size_t per_row = candidates.size() / rows_.size();
  pool_.clear();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_possible(candidates[i])) continue;
    const std::size_t row = i / per_row;
    pool_.push_back({.row = static_cast<std::int32_t>(row),
                     .token = candidates[i].token,
                     .sum = rows_[row].sum + candidates[i].log_probability});
  }
  if (pool_.empty())
    for (const Row& row : rows_) finish(row.sum, length_, row.node, true);
  return keep_beam(pool_, config_->beam_size, eos_);
}

std::vector<Extension> SentenceSearch::sampled_extensions(std::span<const Candidate> candidates) {
  const std::size_t per_row = candidates.size() / rows_.size();
  std::vector<Extension> drawn;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto of_row = candidates.subspan(row * per_row, per_row);
    const double uniform = uniform_of(
        random_bits(static_cast<std::uint64_t>(config_->seed), key_, rows_[row].sample, length_));
    const std::int64_t choice = draw(of_row, *config_, uniform);
    if (choice < 0) {
      finish(rows_[row].sum, length_, rows_[row].node, true);
      continue;
    }
    const Candidate& candidate = of_row[static_cast<std::size_t>(choice)];
    drawn.push_back({.row = static_cast<std::int32_t>(row),
                     .token = candidate.token,
                     .sum = rows_[row].sum + candidate.log_probability});
  }
  return drawn;
}

void SentenceSearch::finish(double sum, std::int64_t length, std::int32_t node, bool cut) {
  const Finished ended{.score = normalized_score(sum, std::max<std::int64_t>(length, 1), *config_),
                       .sum = sum,
                       .length = length,
                       .node = node,
                       .cut = cut};
  const auto place =
      std::upper_bound(ended_.begin(), ended_.end(), ended,
                       [](const Finished& a, const Finished& b) { return a.score > b.score; });
  ended_.insert(place, ended);
  if (ended_.size() > kept()) ended_.pop_back();
}

bool SentenceSearch::no_open_row_matters() const {
  if (rows_.empty()) return true;
  if (config_->sampling) return false;
  const auto beam = static_cast<std::size_t>(config_->beam_size);
  const auto wanted = static_cast<std::size_t>(config_->n_best);
  const double best_open = rows_.front().sum;
  switch (config_->stop) {
    case Stop::Full:
      return ended_.size() >= beam;
    case Stop::Exact:
      // Sums only fall, and at the greatest length they are divided by the most.
      return ended_.size() >= wanted &&
             ended_[wanted - 1].score >= normalized_score(best_open, max_length_, *config_);
    case Stop::Hf:
      return ended_.size() >= beam &&
             ended_[beam - 1].score >= normalized_score(best_open, length_, *config_);
  }
  return true;
}

std::vector<Hypothesis> SentenceSearch::best() const {
  std::vector<Hypothesis> hypotheses;
  for (const Finished& ended : ended_) {
    if (hypotheses.size() == static_cast<std::size_t>(config_->n_best)) break;
    std::vector<TokenId> tokens;
    for (std::int32_t node = ended.node; node >= 0;
         node = nodes_[static_cast<std::size_t>(node)].previous)
      tokens.push_back(nodes_[static_cast<std::size_t>(node)].token);
    std::reverse(tokens.begin(), tokens.end());
    hypotheses.push_back({.tokens = std::move(tokens),
                          .length = ended.length,
                          .sum = ended.sum,
                          .score = ended.score,
                          .cut = ended.cut});
  }
  return hypotheses;
}

}  // namespace dragoman
