#include <ATen/ops/logsumexp.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>

#include "inference/device/device_model.h"

namespace dragoman {

std::int64_t DeviceEnsemble::max_positions() const {
  std::int64_t positions = members_.front()->max_positions();
  for (const auto& member : members_) positions = std::min(positions, member->max_positions());
  return positions;
}

std::int64_t DeviceEnsemble::preferred_rows() const {
  std::int64_t rows = members_.front()->preferred_rows();
  for (const auto& member : members_) rows = std::min(rows, member->preferred_rows());
  return rows;
}

void DeviceEnsemble::check(const AttentionHeads& heads) const {
  for (const auto& member : members_) member->check(heads);
}

void DeviceEnsemble::shape(std::int64_t groups, std::int64_t rows_per_group) {
  for (const auto& member : members_) member->shape(groups, rows_per_group);
}

void DeviceEnsemble::admit(std::span<const std::vector<TokenId>> sentences,
                           std::span<const std::int64_t> groups) {
  for (const auto& member : members_) member->admit(sentences, groups);
}

DeviceStepResults DeviceEnsemble::step(const DeviceStep& step) {
  std::vector<torch::Tensor> log_probabilities, attention;
  for (const auto& member : members_) {
    const DeviceStepResults results = member->step(step);
    log_probabilities.push_back(results.are_normalized ? results.logits
                                                       : results.logits.log_softmax(1));
    if (step.reports_attention) attention.push_back(results.attention);
  }
  const double count = static_cast<double>(members_.size());
  return {.logits = torch::stack(log_probabilities).logsumexp(0) - std::log(count),
          .attention = step.reports_attention ? torch::stack(attention).mean(0) : torch::Tensor(),
          .are_normalized = true};
}

void DeviceEnsemble::add_places(TensorPlaces& places) {
  for (const auto& member : members_) member->add_places(places);
}

}  // namespace dragoman
