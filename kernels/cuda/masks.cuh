// The masks of dropout on the device, those of DropoutRule (kernels/kernels.h), in registers.
#pragma once

#include "kernels/cuda/dropout.h"
#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

// The constants of dropout_hash (kernels/kernels.h), whose header CUDA's compilers cannot read.
constexpr unsigned kFirstFactor = 0x7FEB352D, kSecondFactor = 0x846CA68B;
constexpr unsigned kOfSite = 0x85EBCA6B, kOfHead = 0xC2B2AE35, kOfColumns = 0x9E3779B9;

/// hash32() of kernels/kernels.h
__device__ inline unsigned hash_of(unsigned x) {
  x = (x ^ (x >> 16)) * kFirstFactor;
  x = (x ^ (x >> 15)) * kSecondFactor;
  return x ^ (x >> 16);
}

__device__ inline unsigned row_key(const CudaDropoutRule& rule, unsigned row) {
  unsigned token = row, head = 0;
  if (rule.heads > 1) {
    const unsigned of_heads = row / rule.queries;
    token = of_heads / rule.heads * rule.queries + row % rule.queries;
    head = of_heads % rule.heads;
  }
  return hash_of(static_cast<unsigned>(rule.row_keys[token]) ^ rule.site * kOfSite) +
         head * kOfHead;
}

/// 0 or scale for each of the columns from `first_column` on, a multiple of 4.
__device__ inline Elements factors(const CudaDropoutRule& rule, unsigned key,
                                   unsigned first_column) {
  Elements result;
  for (unsigned four = 0; four < kColumnsOfThread / 4; ++four) {
    const unsigned bits = hash_of(key + (first_column / 4 + four) * kOfColumns);
    for (unsigned i = 0; i < 4; ++i)
      result.at[four * 4 + i] = (bits >> (8 * i) & 0xFF) < rule.threshold ? 0.0F : rule.scale;
  }
  return result;
}

}  // namespace dragoman::cuda_kernels
