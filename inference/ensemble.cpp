#include "inference/ensemble.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dragoman {

void Ensemble::LogSums::start(std::size_t count) {
  largest.assign(count, -kExclude);
  sums.assign(count, 0);
}

/// If a log-probability is not a number, the sum is not a number either.
void Ensemble::LogSums::add(std::size_t i, float log_probability) {
  if (log_probability == -kExclude) return;
  if (log_probability <= largest[i]) {
    sums[i] += std::exp(log_probability - largest[i]);
  } else {
    sums[i] = sums[i] * std::exp(largest[i] - log_probability) + 1;
    largest[i] = log_probability;
  }
}

float Ensemble::LogSums::log_of(std::size_t i, float factor) const {
  return largest[i] + std::log(sums[i] * factor);
}

Ensemble::Ensemble(std::vector<std::unique_ptr<HostEngine>> members) {
  for (auto& engine : members) members_.push_back({std::move(engine), {}, {}});
}

std::int64_t Ensemble::max_positions() const {
  std::int64_t least = members_.front().engine->max_positions();
  for (const Member& member : members_) least = std::min(least, member.engine->max_positions());
  return least;
}

std::int64_t Ensemble::preferred_rows() const { return members_.front().engine->preferred_rows(); }

void Ensemble::check(const AttentionHeads& heads) const {
  for (const Member& member : members_) member.engine->check(heads);
}

std::vector<std::int32_t> Ensemble::admit(std::span<const std::vector<TokenId>> sentences) {
  std::vector<std::int32_t> slots;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::int32_t>(slots_++));
      for (Member& member : members_) member.slots.resize(slots_);
      free_slots_.reserve(slots_);  // release() takes no memory
    }
    slots.push_back(free_slots_.back());
    free_slots_.pop_back();
  }
  for (Member& member : members_) {
    const std::vector<std::int32_t> given = member.engine->admit(sentences);
    for (std::size_t i = 0; i < slots.size(); ++i)
      member.slots[static_cast<std::size_t>(slots[i])] = given[i];
  }
  return slots;
}

void Ensemble::release(std::span<const std::int32_t> slots) {
  for (const std::int32_t slot : slots) {
    for (const Member& member : members_)
      member.engine->release({&member.slots[static_cast<std::size_t>(slot)], 1});
    free_slots_.push_back(slot);
  }
}

void Ensemble::step(const StepRequest& step) {
  const std::int64_t vocabulary = this->vocabulary();
  const auto rows = static_cast<std::int64_t>(step.previous.size());
  const auto weight = 1 / static_cast<float>(members_.size());
  candidates_.resize(static_cast<std::size_t>(rows * vocabulary));
  reported_.resize(step.reported.size());
  sums_.start(candidates_.size());
  reported_sums_.start(reported_.size());
  std::vector<float> attention, mean_attention;
  for (Member& member : members_) {
    member.rows.assign(step.rows.begin(), step.rows.end());
    for (RowOrigin& row : member.rows) row.slot = member.slots[static_cast<std::size_t>(row.slot)];
    member.engine->step({.rows = member.rows,
                         .previous = step.previous,
                         .candidates_per_row = vocabulary,
                         .candidates = candidates_,
                         .reported = step.reported,
                         .reported_log_probabilities = reported_,
                         .attention = step.attention == nullptr ? nullptr : &attention,
                         .heads = step.heads});
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      sums_.add(i, candidates_[i].log_probability);
    for (std::size_t i = 0; i < reported_.size(); ++i) reported_sums_.add(i, reported_[i]);
    mean_attention.resize(attention.size());
    for (std::size_t i = 0; i < attention.size(); ++i) mean_attention[i] += weight * attention[i];
  }
  if (step.attention != nullptr) *step.attention = std::move(mean_attention);

  for (std::size_t i = 0; i < candidates_.size(); ++i)
    candidates_[i].log_probability = sums_.log_of(i, weight);
  for (std::size_t i = 0; i < reported_.size(); ++i)
    step.reported_log_probabilities[i] = reported_sums_.log_of(i, weight);
  adjust_and_rank(step);
}

void Ensemble::adjust_and_rank(const StepRequest& step) {
  const std::int64_t vocabulary = this->vocabulary();
  const auto rows = static_cast<std::int64_t>(step.previous.size());
  const auto log_probability = [&](std::int32_t row, TokenId token) -> float& {
    return candidates_[static_cast<std::size_t>(row * vocabulary + token)].log_probability;
  };
  for (const auto& [row, token, factor] : step.adjustments)
    log_probability(row, token) = adjusted(log_probability(row, token), factor);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto all = candidates_.begin() + row * vocabulary;
    if (step.candidates_per_row < vocabulary)
      std::partial_sort(all, all + step.candidates_per_row, all + vocabulary, ranks_before);
    std::copy_n(all, step.candidates_per_row,
                step.candidates.begin() + row * step.candidates_per_row);
  }
}

std::vector<std::unique_ptr<HostEngine>> ensembles_of(
    std::vector<std::vector<std::unique_ptr<HostEngine>>> models) {
  if (models.size() == 1) return std::move(models.front());
  std::vector<std::unique_ptr<HostEngine>> ensembles;
  for (std::size_t thread = 0; thread < models.front().size(); ++thread) {
    std::vector<std::unique_ptr<HostEngine>> together;
    for (auto& engines : models) together.push_back(std::move(engines[thread]));
    ensembles.push_back(std::make_unique<Ensemble>(std::move(together)));
  }
  return ensembles;
}

}  // namespace dragoman
