#include "inference/device/ended_hypotheses.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <cmath>

namespace dragoman {

EndedHypotheses::EndedHypotheses(std::int64_t groups, std::int64_t most,
                                 torch::TensorOptions integers)
    : most_(most) {
  const std::vector<std::int64_t> shape = {groups, most};
  const auto doubles = integers.dtype(torch::kFloat64);
  ended_ = {.score = torch::full(shape, -INFINITY, doubles),
            .sum = torch::zeros(shape, doubles),
            .penalty = torch::zeros(shape, doubles),
            .length = torch::zeros(shape, integers),
            .count = torch::zeros(shape, integers),
            .row = torch::zeros(shape, integers),
            .cut = torch::zeros(shape, integers.dtype(torch::kBool))};
}

void EndedHypotheses::add(const std::vector<Ended>& more) {
  const auto joined = [&](torch::Tensor Ended::*member) {
    std::vector<torch::Tensor> all = {ended_.*member};
    for (const Ended& some : more) all.push_back((some.*member).expand_as(some.row));
    return torch::cat(all, 1);
  };
  const auto sorted = joined(&Ended::score).sort(/*stable=*/true, 1, /*descending=*/true);
  const auto best = std::get<1>(sorted).narrow(1, 0, most_);
  Ended kept;
  for (const auto member : Ended::kAll) kept.*member = joined(member).gather(1, best);
  ended_ = kept;
}

torch::Tensor EndedHypotheses::has(std::int64_t count) const {
  return ended_.score.gt(-INFINITY).sum(1).ge(count);
}

}  // namespace dragoman
