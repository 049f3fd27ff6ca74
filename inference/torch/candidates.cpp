#include "inference/torch/candidates.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "model/ops/to_device.h"

namespace dragoman {

namespace {

/// The candidates of one row of log-probabilities.
void choose(std::span<const float> row, std::span<Candidate> candidates) {
  const auto best = static_cast<std::ptrdiff_t>(candidates.size());
  std::ptrdiff_t filled = 0;
  for (std::size_t token = 0; token < row.size(); ++token) {
    const Candidate candidate{static_cast<TokenId>(token), row[token]};
    if (filled == best && candidate.log_probability <= candidates[best - 1].log_probability)
      continue;
    std::ptrdiff_t at = filled < best ? filled++ : best - 1;
    for (; at > 0 && ranks_before(candidate, candidates[at - 1]); --at)
      candidates[at] = candidates[at - 1];
    candidates[at] = candidate;
  }
}

/// The flat indices [n] of (row, token) in a table [R, V].
template <class Items>
torch::Tensor flat_indices(const Items& items, const torch::Tensor& table) {
  std::vector<std::int64_t> indices;
  for (const auto& item : items) indices.push_back(item.row * table.size(1) + item.token);
  return to_device(indices, table.device());
}

void report_log_probabilities(const torch::Tensor& log_p, const StepRequest& step) {
  if (step.reported.empty()) return;
  const auto values = log_p.view(-1).index_select(0, flat_indices(step.reported, log_p)).cpu();
  std::copy_n(values.const_data_ptr<float>(), step.reported.size(),
              step.reported_log_probabilities.begin());
}

void adjust(torch::Tensor& log_p, const StepRequest& step) {
  if (step.adjustments.empty()) return;
  std::vector<float> factors;
  for (const Adjustment& adjustment : step.adjustments) factors.push_back(adjustment.factor);
  const auto indices = flat_indices(step.adjustments, log_p);
  const auto factor = to_device(factors, log_p.device());
  const auto values = log_p.view(-1).index_select(0, indices) * factor;
  log_p.view(-1).index_copy_(0, indices, values.masked_fill(factor == kExclude, -kExclude));
}

}  // namespace

void best_candidates(const torch::Tensor& logits, std::span<const TokenId> never_emitted,
                     const StepRequest& step) {
  const std::int64_t rows = logits.size(0), vocabulary = logits.size(1),
                     best = step.candidates_per_row;
  const std::span<Candidate> candidates = step.candidates;
  auto log_p = logits.to(torch::kFloat32).log_softmax(1);  // [R, V]
  report_log_probabilities(log_p, step);
  adjust(log_p, step);
  if (!never_emitted.empty()) {
    const auto tokens =
        torch::tensor(std::vector<std::int64_t>(never_emitted.begin(), never_emitted.end()),
                      log_p.options().dtype(torch::kInt64));
    log_p.index_fill_(1, tokens, -kExclude);
  }
  if (!log_p.device().is_cpu() && best < vocabulary) {
    const auto [values, tokens] = log_p.topk(best, 1);
    const auto cpu_values = values.cpu(), cpu_tokens = tokens.cpu();
    const auto* value = cpu_values.const_data_ptr<float>();
    const auto* token = cpu_tokens.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < rows * best; ++i)
      candidates[i] = {static_cast<TokenId>(token[i]), value[i]};
    return;
  }
  log_p = log_p.cpu().contiguous();
  const auto* values = log_p.const_data_ptr<float>();
  at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const std::span row(values + r * vocabulary, static_cast<std::size_t>(vocabulary));
      const auto chosen = candidates.subspan(r * best, best);
      if (best == vocabulary)
        for (std::int64_t t = 0; t < vocabulary; ++t) chosen[t] = {static_cast<TokenId>(t), row[t]};
      else
        choose(row, chosen);
    }
  });
}

}  // namespace dragoman
