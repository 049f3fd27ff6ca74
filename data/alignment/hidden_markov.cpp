#include "data/alignment/hidden_markov.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dragoman {

namespace {

constexpr std::size_t kSpan = 2 * kNearJump + 1;  // jumps with weights of their own
constexpr std::size_t kFar = kSpan + 1;           // the index of all longer jumps forwards

/// The sum of `values` that stand more than kNearJump before each place, and after it.
struct FarSums {
  float before = 0, after = 0;

  /// To be called for place 0, 1, ... with the sum of all values.
  void move_to(std::size_t place, std::span<const float> values) {
    if (place == 0) {
      after = std::accumulate(values.begin(), values.end(), 0.0F);
      for (std::size_t i = 0; i < std::min(kNearJump, values.size()); ++i) after -= values[i];
    }
    if (place + kNearJump < values.size()) after -= values[place + kNearJump];
    if (place > kNearJump) before += values[place - kNearJump - 1];
    if (place + kNearJump + 1 >= values.size()) after = 0;
    after = std::max(after, 0.0F);  // rounding may have left less
  }
};

/// The states of a padded row.
std::span<const float> inner(const float* row, std::size_t states) {
  return {row + kNearJump, states};
}

}  // namespace

void JumpCounts::add(const JumpCounts& other) {
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] += other.made[i];
    possible[i] += other.possible[i];
  }
  for (std::size_t i = 0; i < first_made.size(); ++i) {
    first_made[i] += other.first_made[i];
    first_possible[i] += other.first_possible[i];
  }
}

JumpWeights JumpWeights::uniform() {
  JumpWeights weights{};
  weights.jumps.fill(1);
  weights.first.fill(1);
  return weights;
}

JumpWeights JumpWeights::of(const JumpCounts& counts) {
  JumpWeights weights{};
  // A jump that was never seen is possible all the same.
  const auto weight = [](double made, double possible) {
    return static_cast<float>((made + 1e-4) / (possible + 1));
  };
  for (std::size_t i = 0; i < weights.jumps.size(); ++i)
    weights.jumps[i] = weight(counts.made[i], counts.possible[i]);
  for (std::size_t i = 0; i < weights.first.size(); ++i)
    weights.first[i] = weight(counts.first_made[i], counts.first_possible[i]);
  return weights;
}

void HmmPosteriors::run(const HmmInput& input, const JumpWeights& weights) {
  prepare(input, weights);
  forward(input, weights);
  backward(input, weights);
}

void HmmPosteriors::prepare(const HmmInput& input, const JumpWeights& weights) {
  weights_ = weights;
  states_ = input.states;
  observed_ = input.from_null.size();
  stride_ = states_ + 2 * kNearJump;
  links_.resize(observed_ * states_);
  nulls_.resize(observed_);
  leaving_.assign(observed_ * stride_, 0);
  arriving_.assign(observed_ * stride_, 0);
  unlinked_.resize(observed_);
  scale_.resize(observed_);
  first_.resize(states_);
  per_weight_.resize(states_);
  mass_.resize(states_);
  jumped_.resize(states_);
  float all_first = 0;
  for (std::size_t i = 0; i < states_; ++i)
    all_first += first_[i] = weights.first[std::min(i, kNearJump)];
  for (float& probability : first_) probability /= all_first;
  for (std::size_t i = 0; i < states_; ++i) {
    const std::size_t before = i, after = states_ - 1 - i;
    float sum = 0;
    for (std::size_t k = 0; k < kSpan; ++k)
      if (k + before >= kNearJump && k <= kNearJump + after) sum += weights.jumps[k + 1];
    if (before > kNearJump) sum += weights.jumps[0] * static_cast<float>(before - kNearJump);
    if (after > kNearJump) sum += weights.jumps[kFar] * static_cast<float>(after - kNearJump);
    per_weight_[i] = 1 / sum;
  }
}

void HmmPosteriors::forward(const HmmInput& input, const JumpWeights& weights) {
  log_likelihood_ = 0;
  std::ranges::fill(mass_, 0.0F);
  float unlinked = 1;
  for (std::size_t j = 0; j < observed_; ++j) {
    float* leaving = &leaving_[j * stride_];
    for (std::size_t i = 0; i < states_; ++i) leaving[kNearJump + i] = mass_[i] * per_weight_[i];
    unlinked_[j] = unlinked;
    for (std::size_t i = 0; i < states_; ++i) jumped_[i] = unlinked * first_[i];
    for (std::size_t k = 0; k < kSpan; ++k) {
      const float weight = weights.jumps[k + 1];
      const float* from = leaving + (kSpan - 1 - k);
      for (std::size_t i = 0; i < states_; ++i) jumped_[i] += weight * from[i];
    }
    FarSums far;
    for (std::size_t i = 0; i < states_ && states_ > kNearJump; ++i) {
      far.move_to(i, inner(leaving, states_));
      jumped_[i] += weights.jumps[kFar] * far.before + weights.jumps[0] * far.after;
    }
    const float null = kNullProbability * input.from_null[j];
    const float* emission = &input.emission[j * states_];
    float* links = &links_[j * states_];
    float sum = unlinked *= null;
    for (std::size_t i = 0; i < states_; ++i) {
      links[i] = (1 - kNullProbability) * emission[i] * jumped_[i];
      mass_[i] = mass_[i] * null + links[i];
      sum += mass_[i];
    }
    scale_[j] = sum;
    log_likelihood_ += std::log(static_cast<double>(sum));
    const float factor = 1 / sum;
    unlinked *= factor;
    for (std::size_t i = 0; i < states_; ++i) {
      mass_[i] *= factor;
      links[i] *= factor;
    }
  }
}

void HmmPosteriors::backward(const HmmInput& input, const JumpWeights& weights) {
  std::vector<float>& rest = mass_;  // the likelihood of the words after j, by the last state
  std::ranges::fill(rest, 1.0F);
  for (std::size_t j = observed_; j-- > 0;) {
    const float factor = 1 / scale_[j];
    const float* emission = &input.emission[j * states_];
    float* links = &links_[j * states_];
    float* arriving = &arriving_[j * stride_];
    float linked = 0;
    for (std::size_t i = 0; i < states_; ++i) {
      links[i] *= rest[i];
      linked += links[i];
      arriving[kNearJump + i] = (1 - kNullProbability) * emission[i] * rest[i] * factor;
    }
    nulls_[j] = std::max(0.0F, 1 - linked);
    std::ranges::fill(jumped_, 0.0F);
    for (std::size_t k = 0; k < kSpan; ++k) {
      const float weight = weights.jumps[k + 1];
      for (std::size_t i = 0; i < states_; ++i) jumped_[i] += weight * arriving[i + k];
    }
    FarSums far;
    for (std::size_t i = 0; i < states_ && states_ > kNearJump; ++i) {
      far.move_to(i, inner(arriving, states_));
      jumped_[i] += weights.jumps[kFar] * far.after + weights.jumps[0] * far.before;
    }
    const float null = kNullProbability * input.from_null[j] * factor;
    for (std::size_t i = 0; i < states_; ++i)
      rest[i] = null * rest[i] + per_weight_[i] * jumped_[i];
  }
}

void HmmPosteriors::add_jumps(JumpCounts& counts) const {
  JumpCounts here;
  std::array<float, kSpan> near{};  // without the weights of the jumps
  for (std::size_t j = 0; j < observed_; ++j) {
    const float* leaving = &leaving_[j * stride_];
    const float* arriving = &arriving_[j * stride_];
    for (std::size_t i = 0; i < states_; ++i)
      for (std::size_t k = 0; k < kSpan; ++k) near[k] += leaving[kNearJump + i] * arriving[i + k];
    FarSums far;
    for (std::size_t i = 0; i < states_; ++i) {
      far.move_to(i, inner(arriving, states_));
      here.made[kFar] += weights_.jumps[kFar] * far.after * leaving[kNearJump + i];
      here.made[0] += weights_.jumps[0] * far.before * leaving[kNearJump + i];
      here.first_made[std::min(i, kNearJump)] += unlinked_[j] * first_[i] * arriving[kNearJump + i];
    }
  }
  for (std::size_t k = 0; k < kSpan; ++k) here.made[k + 1] = near[k] * weights_.jumps[k + 1];
  // How often a jump could have been made: as if all states were equally frequent.
  const auto states = static_cast<double>(states_);
  const double made = std::accumulate(here.made.begin(), here.made.end(), 0.0) / states;
  const double first = std::accumulate(here.first_made.begin(), here.first_made.end(), 0.0);
  for (std::size_t distance = 0; distance < states_; ++distance) {
    const double places = made * (states - static_cast<double>(distance));
    const bool is_near = distance <= kNearJump;
    here.possible[is_near ? kNearJump + 1 + distance : kFar] += places;
    if (distance > 0) here.possible[is_near ? kNearJump + 1 - distance : 0] += places;
    here.first_possible[std::min(distance, kNearJump)] += first;
  }
  counts.add(here);
}

}  // namespace dragoman
