// The losses of each token.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace dragoman {

/// Rows of logits that a kernel's task takes.
inline constexpr std::int64_t kTokensPerTask = 8;

/// [N] each, fp32. A row without a target has zeros.
struct TokenLosses {
  torch::Tensor objective;                ///< the number that an update minimises
  torch::Tensor smoothed;                 ///< cross-entropy with label smoothing
  torch::Tensor negative_log_likelihood;  ///< cross-entropy without
};

}  // namespace dragoman
