#include "training/start/token_budget.h"

#include <algorithm>

#include "base/memory.h"

namespace dragoman {

namespace {

constexpr std::int64_t kSmallest = 1024, kLargest = 65'536;
constexpr std::int64_t kFewestBatches = 50;
constexpr double kGain = 1.03;
/// The fraction of the free memory that may be used. The rest is for other programs and longer
/// batches.
constexpr double kFraction = 0.8;

std::int64_t largest_for(const Corpus& corpus) {
  std::int64_t source = 0, target = 0;
  for (std::int64_t pair = 0; pair < corpus.pairs(); ++pair) {
    source += corpus.lengths(pair).source + 1;
    target += corpus.lengths(pair).target + 1;
  }
  return std::min(kLargest, std::max(source, target) / kFewestBatches);
}

}  // namespace

std::vector<BudgetTrial> try_budgets(Trial& trial, const Corpus& corpus) {
  const std::int64_t largest = largest_for(corpus);
  const double free = kFraction * static_cast<double>(available_memory());
  std::vector<BudgetTrial> trials;
  for (std::int64_t budget = kSmallest;; budget *= 2) {
    trial.longest_batch(budget);
    trials.push_back(
        {.max_tokens = budget,
         .target_tokens_per_second = trial.usual_batches(budget).target_tokens_per_second,
         .memory = trial.peak_growth()});
    const bool fits = 2 * static_cast<double>(trials.back().memory) < free;
    const bool gained =
        trials.size() < 2 || trials.back().target_tokens_per_second >
                                 kGain * trials[trials.size() - 2].target_tokens_per_second;
    if (2 * budget > largest || !fits || !gained) return trials;
  }
}

std::int64_t chosen_budget(const std::vector<BudgetTrial>& trials) {
  double fastest = 0;
  for (const BudgetTrial& trial : trials)
    fastest = std::max(fastest, trial.target_tokens_per_second);
  for (const BudgetTrial& trial : trials)
    if (trial.target_tokens_per_second * kGain >= fastest) return trial.max_tokens;
  return trials.front().max_tokens;
}

}  // namespace dragoman
