// The decision about an update (training/step.h) as one launch in place of about forty. Sums and
// products are rounded one by one, so that the limits are those of the host to the last bit.
#include "kernels/cuda/decision.h"

namespace dragoman::cuda_kernels {

#ifdef __CUDACC__
__device__ inline double product(double x, double y) { return __dmul_rn(x, y); }
__device__ inline double sum(double x, double y) { return __dadd_rn(x, y); }
#else
inline double product(double x, double y) { return x * y; }
inline double sum(double x, double y) { return x + y; }
#endif

__device__ inline bool is_finite(double x) { return x - x == 0; }
__device__ inline double smaller(double x, double y) { return y < x ? y : x; }

/// The means of SpikeLimits, and what they say of an update.
struct Means {
  double *updates, *loss, *gradient_norm;
  double spike_factor, reach;

  __device__ bool allow(double loss_of_update, double norm) const {
    if (!is_finite(loss_of_update)) return false;
    if (spike_factor == 0 || *updates < reach) return true;
    return loss_of_update <= product(*loss, spike_factor) &&
           norm <= product(*gradient_norm, spike_factor);
  }
  __device__ void note(double loss_of_update, double norm) {
    *updates += 1;
    const double fraction = 1 / smaller(*updates, reach);
    *loss = sum(*loss, product(fraction, loss_of_update - *loss));
    *gradient_norm = sum(*gradient_norm, product(fraction, norm - *gradient_norm));
  }
};

extern "C" {  // so that it is found by its name

__global__ void decide_float32(CudaDecision a) {
  const double tokens = a.numbers[0], weight = a.numbers[1];
  const double norm = product(*a.gradient_norm, weight);
  bool made = is_finite(norm);
  if (a.means != nullptr) {
    const double loss = a.losses[0] / tokens;
    Means means{a.means, a.means + 1, a.means + 2, a.spike_factor, a.updates_of_means};
    made = made && means.allow(loss, norm);
    if (made) means.note(loss, norm);
  }
  double factor = weight;
  if (a.clip_norm > 0 && norm > a.clip_norm) factor = product(weight, a.clip_norm) / norm;
  *a.steps += made ? 1.0F : 0.0F;
  const double steps = *a.steps, rate = a.numbers[2];
  const double average_decay = smaller((1 + steps) / (10 + steps), a.average_decay);  // optimizer.h
  *a.step = {made ? 1.0F : 0.0F,
             static_cast<float>(factor),
             static_cast<float>(1 - rate * a.weight_decay),
             static_cast<float>(rate / (1 - pow(a.beta1, steps))),
             static_cast<float>(sqrt(1 - pow(a.beta2, steps))),
             static_cast<float>(1 - average_decay)};
  for (int i = 0; i < a.all_losses; ++i) a.result[i] = i < a.loss_count ? a.losses[i] : 0;
  a.result[a.all_losses] = norm;
  a.result[a.all_losses + 1] = made ? 1 : 0;
}

}  // extern "C"

}  // namespace dragoman::cuda_kernels
