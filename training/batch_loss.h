// The losses of a batch, as sums: over shares, parts and ranks.
#pragma once

#include <cstdint>

namespace dragoman {

struct BatchLoss {
  double smoothed = 0, negative_log_likelihood = 0;  ///< sums over target tokens
  std::int64_t source_tokens = 0, target_tokens = 0;
  /// The loss of guided alignment, summed over the target tokens that have links, and the number of
  /// these tokens. With R-Drop both include both passes.
  double alignment = 0, linked_tokens = 0;

  BatchLoss& operator+=(const BatchLoss& other);
};

}  // namespace dragoman
