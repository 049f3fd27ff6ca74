// What a loss says about each token.
#pragma once

#include <torch/types.h>

namespace dragoman {

/// [N] each, fp32. All of a token without a target is zero.
struct TokenLosses {
  torch::Tensor objective;                ///< what is minimised
  torch::Tensor smoothed;                 ///< cross-entropy with label smoothing
  torch::Tensor negative_log_likelihood;  ///< cross-entropy without
};

}  // namespace dragoman
