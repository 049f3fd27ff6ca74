#include "training/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dragoman {

double learning_rate(const Schedule& s, std::int64_t update) {
  const double u = static_cast<double>(std::max<std::int64_t>(1, update));
  const double warmup = static_cast<double>(std::max<std::int64_t>(1, s.warmup));
  if (s.scheduler == LrScheduler::Noam)
    return s.peak * std::pow(static_cast<double>(s.d_model), -0.5) *
           std::min(std::pow(u, -0.5), u * std::pow(warmup, -1.5));
  if (u < warmup) return s.peak * u / warmup;
  if (s.scheduler == LrScheduler::InverseSqrt)
    return std::max(s.floor, s.peak * std::sqrt(warmup / u));
  if (s.scheduler == LrScheduler::Wsd) {
    if (s.cooldown == 0 || update <= s.cooldown) return s.peak;
    const double length = static_cast<double>(std::max<std::int64_t>(1, s.end - s.cooldown));
    const double progress = std::min(1.0, static_cast<double>(update - s.cooldown) / length);
    return s.floor + (s.peak - s.floor) * (1 - std::sqrt(progress));
  }
  const double span = std::max(1.0, static_cast<double>(s.end) - warmup);
  const double progress = std::min(1.0, (u - warmup) / span);
  const double fraction = s.scheduler == LrScheduler::Cosine
                              ? (1 + std::cos(std::numbers::pi * progress)) / 2
                              : 1 - progress;
  return s.floor + (s.peak - s.floor) * fraction;
}

}  // namespace dragoman
