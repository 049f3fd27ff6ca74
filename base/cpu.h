// The instruction sets of the processor, found once.
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
  /// Matrix products in bf16 take less time than in fp32. This is not so with Intel's AVX-512 BF16
  /// without AMX: it multiplies two numbers a lane, but on one port, and fp32 has two ports.
  bool bf16_is_faster = false;
};

/// The features that follow from the instruction sets that `supports` knows, each by GCC's name. A
/// virtual machine may lack any of them. AMX and the model's name are left out.
CpuFeatures features_of(const std::function<bool(std::string_view instructions)>& supports);

const CpuFeatures& cpu_features();

/// For --version and logs: "AVX2 AVX-512 VNNI BF16".
std::string cpu_features_text();

}  // namespace dragoman
