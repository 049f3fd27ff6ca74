// The features of the processor, found once: on x86-64 by CPUID, on 64-bit ARM from the kernel's
// auxiliary vector. Nothing is known about any other processor.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace dragoman {

struct CpuFeatures {
  std::string model;         ///< as the processor names itself
  std::string instructions;  ///< those that make programs faster, for people: "AVX2 AVX-512 VNNI"
  bool amx_bf16 = false;
  /// Matrix products in bf16 take less time than in fp32. This is not so with Intel's AVX-512 BF16
  /// without AMX: it multiplies two numbers a lane, but on one port, and fp32 has two ports.
  bool bf16_is_faster = false;
};

const CpuFeatures& cpu_features();

/// The model that /proc/cpuinfo names. On ARM it has numbers alone, "ARM 0x41/0xd0c": lscpu knows
/// their names.
std::string processor_model(std::istream& cpuinfo);

/// Whether the processor has some instructions and the system lets programs use them, by GCC's name
/// ("avx2", "dotprod"). A virtual machine may lack any of them. Throws std::logic_error for a name
/// that is unknown on this architecture.
bool cpu_supports(std::string_view instructions);

/// Whether `supports` is true for every one of GCC's target options in the list: "avx2,fma" on
/// x86-64, "arch=armv8.2-a+dotprod" on ARM. An empty list is supported.
bool supports_all(std::string_view options,
                  const std::function<bool(std::string_view instructions)>& supports);

}  // namespace dragoman
