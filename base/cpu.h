// What the processor offers, asked once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace dragoman {

struct CpuFeatures {
  std::string model;    ///< as the processor names itself
  bool avx2 = false;    ///< with FMA, F16C, BMI and BMI2
  bool avx512 = false;  ///< F, BW, DQ, VL
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool amx_int8 = false;
  bool amx_bf16 = false;
  /// Products in bf16 take less time than in fp32. Not with Intel's AVX-512 BF16 alone, which
  /// multiplies two numbers a lane but on one port, where fp32 has two.
  bool bf16_is_faster = false;
};

/// What the processor's instruction sets, each by GCC's name, make up; a virtual machine may lack
/// any of them. Without AMX, and without a name.
CpuFeatures features_of(const std::function<bool(std::string_view instructions)>& supports);

const CpuFeatures& cpu_features();

/// For --version and logs: "AVX2 AVX-512 VNNI BF16".
std::string cpu_features_text();

}  // namespace dragoman
