#include "training/log_interval.h"

#include <algorithm>
#include <cmath>

namespace dragoman {

void LogInterval::begin(double now, double waited) {
  *this = LogInterval{};
  start_ = now;
  waited_ = waited;
}

void LogInterval::add(const BatchLoss& sums, double gradient_norm) {
  sums_ += sums;
  gradient_norm_ += gradient_norm;
  ++updates_;
}

IntervalMeans LogInterval::means(double now, double waited) const {
  const double seconds = std::max(1e-9, now - start_);
  const auto tokens = static_cast<double>(sums_.target_tokens);
  return {.loss = sums_.smoothed / tokens,
          .perplexity = std::exp(sums_.negative_log_likelihood / tokens),
          .alignment_loss = sums_.linked_tokens > 0
                                ? std::optional(sums_.alignment / sums_.linked_tokens)
                                : std::nullopt,
          .gradient_norm = gradient_norm_ / static_cast<double>(updates_),
          .source_tokens_per_second = static_cast<double>(sums_.source_tokens) / seconds,
          .target_tokens_per_second = tokens / seconds,
          .data_wait = (waited - waited_) / seconds};
}

}  // namespace dragoman
