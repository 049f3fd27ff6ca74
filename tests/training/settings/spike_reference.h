// SpikeLimits (training/step.h) on the host, in plain numbers.
#pragma once

#include <cmath>
#include <limits>

#include "training/settings/divergence.h"

namespace dragoman {

inline bool has_limits(const LossHistory& history, double spike_factor) {
  return spike_factor != 0 && history.updates >= kUpdatesOfMeans;
}

inline bool is_spike(const LossHistory& history, double loss, double spike_factor) {
  return !std::isfinite(loss) ||
         (has_limits(history, spike_factor) && loss > spike_factor * history.loss);
}

inline double max_gradient_norm(const LossHistory& history, double spike_factor) {
  return has_limits(history, spike_factor) ? spike_factor * history.gradient_norm
                                           : std::numeric_limits<double>::max();
}

}  // namespace dragoman
