#include "training/launched_updates.h"

namespace dragoman {

std::vector<UpdateResult> read_results(const std::vector<LaunchedUpdate>& updates) {
  if (updates.empty()) return {};
  std::vector<torch::Tensor> numbers;
  for (const LaunchedUpdate& update : updates) {
    const auto norm = update.step.gradient_norm;
    numbers.push_back(torch::cat(
        {update.loss.values, torch::stack({norm, update.step.made.to(norm.scalar_type())})}));
  }
  const auto here = torch::stack(numbers).cpu();  // [updates, LossIndex::kCount + 2]
  std::vector<UpdateResult> results;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const double* row = here.const_data_ptr<double>() + i * static_cast<std::size_t>(here.size(1));
    results.push_back({batch_loss(updates[i].loss, row), row[LossIndex::kCount],
                       row[LossIndex::kCount + 1] != 0});
  }
  return results;
}

}  // namespace dragoman
