// How sentences come into the groups of a DeviceSearch, and leave them.
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "inference/device/device_search.h"

namespace dragoman {

namespace {

/// Puts the rows of `values` [n, ...] into `into` [G, ...] at `groups` [n].
void put(torch::Tensor& into, const torch::Tensor& groups, const torch::Tensor& values) {
  into.index_copy_(0, groups, values.to(into.options()));
}

}  // namespace

/// Room for one token more than a hypothesis has: a group whose search has ended writes there.
void DeviceSearch::make_room(std::int64_t longest, std::int64_t prefix, std::int64_t source) {
  if (prefix > prefix_capacity_) prefix_ = widened(prefix_, 1, prefix_capacity_ = prefix);
  if (longest > capacity_) {
    capacity_ = longest;
    if (config_.sampling) uniforms_ = widened(uniforms_, 2, capacity_ + 1);
    std::vector<double> divisors = {1};  // of no token: never used
    for (std::int64_t length = 1; length <= capacity_ + 1; ++length)
      divisors.push_back(score_divisor(length, config_));
    divisors_ = torch::tensor(divisors, integers_.dtype(torch::kFloat64));
  }
  if (keeps_attention_ && source > source_capacity_) coverage_ = widened(coverage_, 2, source);
  source_capacity_ = std::max(source_capacity_, source);
}

/// Room for the tokens that this step may add. It grows with the hypotheses, not with the length
/// that they may have.
void DeviceSearch::make_room_for_tokens() {
  const std::int64_t columns = std::min((longest() / 32 + 1) * 32, capacity_ + 1);
  columns_ = std::max(columns_, columns);
  tree_.make_room(columns_, source_capacity_);
  if (rules_.looks_back() && history_.size(2) < columns_) history_ = widened(history_, 2, columns_);
}

/// Above the length of every row.
std::int64_t DeviceSearch::longest() const {
  std::int64_t longest = 1;
  for (const std::int64_t begun : begun_at_)  // a step adds a token
    if (begun >= 0) longest = std::max(longest, steps_ - begun + 1);
  return longest;
}

void DeviceSearch::begin(std::span<const DeviceSentence> sentences, std::int64_t source_capacity) {
  if (sentences.empty()) return;
  std::int64_t longest = 0, longest_prefix = 0;
  for (const DeviceSentence& sentence : sentences) {
    longest = std::max(longest, sentence.max_length);
    longest_prefix = std::max(longest_prefix, static_cast<std::int64_t>(sentence.prefix.size()));
  }
  make_room(longest, longest_prefix, source_capacity);

  const auto count = static_cast<std::int64_t>(sentences.size());
  std::vector<std::int64_t> numbers;
  auto facts = torch::zeros({5, count}, torch::kInt64);
  auto prefixes = torch::zeros({count, prefix_capacity_}, torch::kInt64);
  auto uniforms = config_.sampling ? torch::zeros({count, width_, capacity_ + 1}, torch::kFloat64)
                                   : torch::Tensor();
  auto fact_of = facts.accessor<std::int64_t, 2>(),
       prefix_of = prefixes.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < count; ++i) {
    const DeviceSentence& sentence = sentences[static_cast<std::size_t>(i)];
    begun_at_[static_cast<std::size_t>(sentence.group)] = steps_;
    numbers.push_back(sentence.group);
    const auto prefix = static_cast<std::int64_t>(sentence.prefix.size());
    const std::int64_t of_sentence[] = {sentence.max_length, prefix,
                                        sentence.prefix_ends_word ? 1 : 0, sentence.source_length,
                                        width_};
    for (std::int64_t fact = 0; fact < 5; ++fact) fact_of[fact][i] = of_sentence[fact];
    for (std::int64_t t = 0; t < prefix; ++t)
      prefix_of[i][t] = sentence.prefix[static_cast<std::size_t>(t)];
    if (!config_.sampling) continue;
    auto draws = uniforms.accessor<double, 3>();
    for (std::int64_t sample = 0; sample < width_; ++sample)
      for (std::int64_t t = 0; t < sentence.max_length; ++t)
        draws[i][sample][t] = uniform_of(
            random_bits(static_cast<std::uint64_t>(config_.seed), sentence.key, sample, t));
  }
  const auto groups = indices_of(numbers);
  torch::Tensor* const of_facts[] = {&max_length_, &prefix_length_, &prefix_ends_word_,
                                     &source_length_, &beam_left_};
  const auto facts_there = facts.to(integers_);
  for (std::int64_t fact = 0; fact < 5; ++fact) put(*of_facts[fact], groups, facts_there[fact]);
  put(prefix_, groups, prefixes);
  if (config_.sampling) put(uniforms_, groups, uniforms);
  length_.index_fill_(0, groups, 0);
  end_.index_fill_(0, groups, kGoesOn);
  open_.index_fill_(0, groups, false);
  for (std::int64_t row = 0; row < starts(); ++row)
    open_.select(1, row).index_fill_(0, groups, true);
  sums_.index_fill_(0, groups, 0);
  previous_.index_fill_(0, groups, -1);
  ended_.forget(groups);
  if (keeps_attention_) coverage_.index_fill_(0, groups, 0);
}

void DeviceSearch::release(std::span<const std::int64_t> groups) {
  for (const std::int64_t group : groups) begun_at_[static_cast<std::size_t>(group)] = -1;
  open_.index_fill_(0, indices_of(groups), false);
}

torch::Tensor DeviceSearch::indices_of(std::span<const std::int64_t> groups) const {
  const std::vector<std::int64_t> numbers(groups.begin(), groups.end());
  return torch::tensor(numbers, torch::kInt64).to(integers_);
}

std::vector<std::int64_t> DeviceSearch::ends() const {
  const auto ends = end_.cpu();
  const auto* values = ends.const_data_ptr<std::int64_t>();
  return {values, values + groups_};
}

std::vector<std::vector<Hypothesis>> DeviceSearch::best(
    std::span<const std::int64_t> groups) const {
  return tree_.trace(ended_.all(), indices_of(groups), config_.n_best, source_length_);
}

}  // namespace dragoman
