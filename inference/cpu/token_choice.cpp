#include "inference/cpu/token_choice.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "kernels/inference_kernels.h"

namespace dragoman {

namespace {

/// The tokens of a chunk. It does not depend on the number of rows, so that a row's sum of
/// exponentials is always added up in the same order.
constexpr std::int64_t kChunkTokens = 1024;
static_assert(kChunkTokens % PackedLinear::kChunkStep == 0);

/// The number of chunks that the projection computes at once: as many as a core's caches hold,
/// because helpers wait for each other each time.
std::int64_t chunks_at_once(std::int64_t rows) { return std::max<std::int64_t>(8 / rows, 1); }

}  // namespace

TokenChoice::TokenChoice(std::vector<TokenId> never_emitted)
    : never_emitted_(std::move(never_emitted)) {}

void TokenChoice::run(const PackedLinear& projection, const float* x, std::int64_t rows,
                      const StepRequest& step, LinearScratch& scratch) {
  const InferenceKernels& kernels = inference_kernels();
  vocabulary_ = projection.outputs();
  const std::int64_t best = step.candidates_per_row;
  const bool wants_all = best == vocabulary_;
  const std::int64_t at_once = chunks_at_once(rows) * kChunkTokens;
  grow(logits_, rows * at_once);
  references_.assign(static_cast<std::size_t>(rows), -kExclude);
  sums_.assign(static_cast<std::size_t>(rows), 0);
  if (!wants_all) {
    grow(best_tokens_, rows * best);
    grow(best_values_, rows * best);
  }
  list_named(step);
  projection.run_in_chunks(
      {.x = x, .count = rows, .y = logits_.data()}, at_once, scratch,
      [&](std::int64_t begin, std::int64_t end, float* logits) {
        const std::int64_t count = end - begin;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < count; c += kChunkTokens)
            add_exponentials(r, logits + r * count + c, std::min(kChunkTokens, count - c));
        take_out(rows, begin, end, logits);
        for (std::int64_t r = 0; r < rows; ++r) {
          const float* row = logits + r * count;
          if (!wants_all)
            kernels.best({row, count, begin, best, best_tokens_.data() + r * best,
                          best_values_.data() + r * best});
          else
            for (std::int64_t c = 0; c < count; ++c)
              step.candidates[static_cast<std::size_t>(r * best + begin + c)] = {
                  static_cast<TokenId>(begin + c), row[c]};
        }
      });
  log_sums_.clear();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    const float log_sum = references_[row] + std::log(sums_[row]);
    log_sums_.push_back(log_sum);
    for (auto i = static_cast<std::size_t>(r * best); i < static_cast<std::size_t>((r + 1) * best);
         ++i) {
      if (!wants_all) step.candidates[i] = {best_tokens_[i], best_values_[i]};
      step.candidates[i].log_probability -= log_sum;
    }
  }
  answer_named(step);
}

/// The sum is of exp(logit - reference); the first chunk's largest logit is the reference until
/// much larger ones come.
void TokenChoice::add_exponentials(std::int64_t row, const float* logits, std::int64_t count) {
  constexpr float kTooLarge = 0x1p60F;
  const InferenceKernels& kernels = inference_kernels();
  float& reference = references_[static_cast<std::size_t>(row)];
  float& sum = sums_[static_cast<std::size_t>(row)];
  const auto refer_to_largest = [&] {
    const float largest = kernels.largest(logits, count);
    sum *= std::exp(reference - largest);
    reference = largest;
  };
  if (reference == -kExclude) refer_to_largest();
  float added = kernels.exponential_sum(logits, count, reference);
  if (!(added < kTooLarge)) {
    refer_to_largest();
    added = kernels.exponential_sum(logits, count, reference);
  }
  sum += added;
}

void TokenChoice::take_out(std::int64_t rows, std::int64_t begin, std::int64_t end, float* logits) {
  const std::int64_t count = end - begin;
  for (; next_named_ < named_.size() && named_[next_named_].token < end; ++next_named_) {
    Named& named = named_[next_named_];
    float& logit = logits[named.row * count + named.token - begin];
    named.logit = logit;
    if (named.adjusts) logit = -kExclude;
  }
  for (const TokenId token : never_emitted_)
    if (token >= begin && token < end)
      for (std::int64_t r = 0; r < rows; ++r) logits[r * count + token - begin] = -kExclude;
}

void TokenChoice::list_named(const StepRequest& step) {
  named_.clear();
  next_named_ = 0;
  for (std::size_t i = 0; i < step.reported.size(); ++i)
    named_.push_back({step.reported[i].token, step.reported[i].row, false, i, 0});
  for (std::size_t i = 0; i < step.adjustments.size(); ++i)
    named_.push_back({step.adjustments[i].token, step.adjustments[i].row, true, i, 0});
  // A reported logit is read before an adjustment of the same token takes it out.
  std::ranges::sort(named_, {}, [](const Named& named) {
    return std::tuple(named.token, named.adjusts, named.row);
  });
}

void TokenChoice::answer_named(const StepRequest& step) const {
  for (const Named& named : named_) {
    const float log_probability = named.logit - log_sums_[static_cast<std::size_t>(named.row)];
    if (!named.adjusts) {
      step.reported_log_probabilities[named.index] = log_probability;
    } else if (std::ranges::find(never_emitted_, named.token) == never_emitted_.end()) {
      const float factor = step.adjustments[named.index].factor;
      insert(named.row, {named.token, adjusted(log_probability, factor)}, step);
    }
  }
}

/// Inserts an adjusted token among the row's candidates. It replaces its own excluded entry if
/// there is one, else the worst candidate.
void TokenChoice::insert(std::int64_t row, const Candidate& candidate,
                         const StepRequest& step) const {
  const auto best = static_cast<std::size_t>(step.candidates_per_row);
  const auto candidates = step.candidates.subspan(static_cast<std::size_t>(row) * best, best);
  if (step.candidates_per_row == vocabulary_) {
    candidates[static_cast<std::size_t>(candidate.token)] = candidate;
    return;
  }
  if (candidate.log_probability == -kExclude) return;
  auto at = std::ranges::find(candidates, candidate.token, &Candidate::token);
  if (at == candidates.end()) {
    --at;
    if (!ranks_before(candidate, *at)) return;
  }
  for (; at != candidates.begin() && ranks_before(candidate, at[-1]); --at) *at = at[-1];
  *at = candidate;
}

}  // namespace dragoman
