// --max-tokens auto: the token budget of this machine.
#pragma once

#include <cstdint>
#include <vector>

#include "training/start/trial.h"

namespace dragoman {

struct BudgetTrial {
  std::int64_t max_tokens = 0;
  double target_tokens_per_second = 0;
  std::int64_t memory = 0;  ///< bytes beside weights, moments and gradients
};

/// Tries budgets from 1,024 on, each twice the one before. Goes on as long as the next budget
/// should fit into the free memory, an epoch has 50 batches, and the last budget was faster by 3 %.
/// Tries one at least.
std::vector<BudgetTrial> try_budgets(Trial& trial, const Corpus& corpus);

/// The smallest budget that is at most 3 % slower than the fastest.
std::int64_t chosen_budget(const std::vector<BudgetTrial>& trials);

}  // namespace dragoman
