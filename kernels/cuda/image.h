// The kernels of this folder as the program carries them (cmake/cuda_kernels.cmake).
#pragma once

#include <string_view>

namespace dragoman {

/// cuda_image("kernels.ptx") is the PTX of all kernels, which CUDA's runtime loads; empty if the
/// build had no compiler for them. It ends with a zero byte. A program on a LibTorch for the CPU
/// meets no GPU but the tests' stand-in, which has compiled the kernels itself: it carries a text
/// in the place of PTX.
std::string_view cuda_image(std::string_view name);

}  // namespace dragoman
