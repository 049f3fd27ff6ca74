// The learning rate: a pure function of the update's number (section 5.3, and schedules of other
// systems).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace dragoman {

enum class LrScheduler { InverseSqrt, Noam, Cosine, Linear, Wsd };
constexpr std::array<std::string_view, 5> names_of(LrScheduler) {
  return {"inverse-sqrt", "noam", "cosine", "linear", "wsd"};
}

struct Schedule {
  LrScheduler scheduler = LrScheduler::InverseSqrt;
  double peak = 5e-4;          ///< --lr; for noam the factor before equation 3
  std::int64_t warmup = 4000;  ///< updates of linear increase
  std::int64_t end = 0;        ///< last update, where cosine, linear and wsd reach `floor`
  std::int64_t cooldown = 0;   ///< update at which the rate of wsd begins to fall; 0: not yet known
  double floor = 0;            ///< --min-lr
  std::int64_t d_model = 512;  ///< for noam
};

/// The rate of update 1, 2, ...:
/// inverse-sqrt: peak * min(u / warmup, sqrt(warmup / u)), after warm-up at least `floor`;
/// noam, equation 3: peak * d_model^-0.5 * min(u^-0.5, u * warmup^-1.5);
/// cosine and linear: to the peak by `warmup`, then down to `floor` at `end`;
/// wsd (warm-up, stable, decay): to the peak by `warmup`, the peak until `cooldown`, then
/// floor + (peak - floor) * (1 - sqrt((u - cooldown) / (end - cooldown))), the "1-sqrt" cooldown of
/// Hägele et al. 2024, "Scaling laws and compute-optimal training beyond fixed training durations".
double learning_rate(const Schedule& schedule, std::int64_t update);

}  // namespace dragoman
