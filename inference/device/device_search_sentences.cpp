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
  constexpr std::int64_t kNewColumns = 32;
  const std::int64_t columns = std::min((longest() / kNewColumns + 1) * kNewColumns, capacity_ + 1);
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
  std::vector<std::int64_t> numbers;
  for (const DeviceSentence& sentence : sentences) {
    longest = std::max(longest, sentence.max_length);
    longest_prefix = std::max(longest_prefix, sentence.prefix_length());
    numbers.push_back(sentence.group);
    begun_at_[static_cast<std::size_t>(sentence.group)] = steps_;
  }
  make_room(longest, longest_prefix, source_capacity);
  const auto groups = indices_of(numbers);
  put_facts(sentences, groups);
  put(prefix_, groups, prefixes_of(sentences));
  if (config_.sampling) put(uniforms_, groups, uniforms_of(sentences));
  open_at_start(groups);
}

/// All facts travel to the device together.
void DeviceSearch::put_facts(std::span<const DeviceSentence> sentences,
                             const torch::Tensor& groups) {
  torch::Tensor* const members[] = {&max_length_, &prefix_length_, &prefix_ends_word_,
                                    &source_length_, &beam_left_};
  auto facts = torch::empty({std::ssize(members), std::ssize(sentences)}, torch::kInt64);
  auto fact = facts.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < facts.size(1); ++i) {
    const DeviceSentence& sentence = sentences[static_cast<std::size_t>(i)];
    fact[0][i] = sentence.max_length;
    fact[1][i] = sentence.prefix_length();
    fact[2][i] = sentence.prefix.ends_word ? 1 : 0;
    fact[3][i] = sentence.source_length;
    fact[4][i] = width_;
  }
  const auto on_device = facts.to(integers_);
  for (std::int64_t f = 0; f < facts.size(0); ++f) put(*members[f], groups, on_device[f]);
}

/// [n, prefix capacity]
torch::Tensor DeviceSearch::prefixes_of(std::span<const DeviceSentence> sentences) const {
  auto prefixes = torch::zeros({std::ssize(sentences), prefix_capacity_}, torch::kInt64);
  auto tokens = prefixes.accessor<std::int64_t, 2>();
  for (std::int64_t i = 0; i < prefixes.size(0); ++i)
    std::ranges::copy(sentences[static_cast<std::size_t>(i)].prefix.tokens, tokens[i].data());
  return prefixes;
}

/// The draws of SentenceSearch [n, B, T + 1].
torch::Tensor DeviceSearch::uniforms_of(std::span<const DeviceSentence> sentences) const {
  auto uniforms = torch::zeros({std::ssize(sentences), width_, capacity_ + 1}, torch::kFloat64);
  auto draws = uniforms.accessor<double, 3>();
  const auto seed = static_cast<std::uint64_t>(config_.seed);
  for (std::int64_t i = 0; i < uniforms.size(0); ++i) {
    const DeviceSentence& sentence = sentences[static_cast<std::size_t>(i)];
    for (std::int64_t sample = 0; sample < width_; ++sample)
      for (std::int64_t t = 0; t < sentence.max_length; ++t)
        draws[i][sample][t] = uniform_of(random_bits(seed, sentence.key, sample, t));
  }
  return uniforms;
}

void DeviceSearch::open_at_start(const torch::Tensor& groups) {
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
