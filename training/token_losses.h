// The losses of each token.
#pragma once

#include <torch/types.h>

namespace dragoman {

/// [N] each, fp32. A row without a target has zeros.
struct TokenLosses {
  torch::Tensor objective;                ///< what is minimised
  torch::Tensor smoothed;                 ///< cross-entropy with label smoothing
  torch::Tensor negative_log_likelihood;  ///< cross-entropy without
};

}  // namespace dragoman
