// CUDA C++ on the CPU, so that tests run the sources of kernels/cuda without a GPU: include this
// header, then a source. A kernel's threads run one after the other, in random order, so a kernel
// that relies on an order of its threads gives other results. Kernels whose threads exchange
// numbers or wait for each other cannot run here.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#define __device__
#define __global__

namespace dragoman::cuda_on_cpu {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// What a thread knows of itself.
inline thread_local Index thread, block, size_of_block;

/// Calls `kernel` once for each thread of the blocks.
template <class Kernel>
void run(unsigned blocks, unsigned threads_of_block, Kernel&& kernel) {
  thread_local std::mt19937 random;
  std::vector<std::uint32_t> order(std::size_t{blocks} * threads_of_block);
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  size_of_block = {threads_of_block, 1, 1};
  for (const std::uint32_t number : order) {
    block = {number / threads_of_block, 0, 0};
    thread = {number % threads_of_block, 0, 0};
    kernel();
  }
}

/// As the instruction cvt.rn.bf16x2.f32 rounds.
inline unsigned rounded_pair(float low, float high) {
  const auto rounded = [](float x) -> unsigned {
    if (std::isnan(x)) return 0x7FFF;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  };
  return rounded(low) | rounded(high) << 16;
}

}  // namespace dragoman::cuda_on_cpu

#define threadIdx ::dragoman::cuda_on_cpu::thread
#define blockIdx ::dragoman::cuda_on_cpu::block
#define blockDim ::dragoman::cuda_on_cpu::size_of_block

inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
