// The arguments of the kernel in kernels/cuda/adam.cu, for the program's compiler and CUDA's.
#pragma once

#include "kernels/cuda/dropout.h"

namespace dragoman {

/// What the decision about an update (kernels/cuda/decision.cu) tells its step.
struct CudaStepNumbers {
  float made;              ///< 0: the update is left out
  float factor;            ///< of the gradient
  float kept;              ///< of the weights, after weight decay: 1 - rate * decay
  float step_size;         ///< rate / (1 - beta1^steps)
  float root_correction;   ///< sqrt(1 - beta2^steps)
  float average_fraction;  ///< of the moving average that the weights replace
};

/// A step of Adam (Kingma and Ba 2015), of the moving average, and of the weights in bf16, if the
/// update is made. `count` elements each, a multiple of kCudaColumns, on the GPU at multiples of 16
/// bytes. The kernel has a thread for every kCudaColumns of them.
struct CudaAdam {
  const CudaStepNumbers* numbers;
  const float* gradient;
  float *weights, *first_moment, *second_moment;
  float* average;          ///< null: there is no moving average
  void* bfloat16_weights;  ///< null: not needed
  long long count;
  float first_fraction;                 ///< 1 - beta1
  float second_decay, second_fraction;  ///< beta2, 1 - beta2
  float epsilon;
};

}  // namespace dragoman
