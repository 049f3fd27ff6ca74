#include "base/cpu.h"

#include <cpuid.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <utility>

namespace dragoman {

namespace {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const std::size_t colon = line.find(": ");
      return colon == std::string::npos ? "" : line.substr(colon + 2);
    }
  return "unknown processor";
}

/// Half floats; clang's builtin does not know their name.
bool has_f16c() {
  unsigned eax, ebx, ecx, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

/// GCC takes literals alone.
bool supports(std::string_view instructions) {
  __builtin_cpu_init();
  const std::pair<std::string_view, bool> known[] = {
      {"avx2", __builtin_cpu_supports("avx2")},
      {"fma", __builtin_cpu_supports("fma")},
      {"f16c", has_f16c()},
      {"bmi", __builtin_cpu_supports("bmi")},
      {"bmi2", __builtin_cpu_supports("bmi2")},
      {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},
      {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
      {"avx512bf16", __builtin_cpu_supports("avx512bf16")}};
  for (const auto& [name, there] : known)
    if (name == instructions) return there;
  throw std::logic_error("no instruction set that is asked for: " + std::string(instructions));
}

CpuFeatures detect() {
  CpuFeatures cpu = features_of(supports);
  cpu.model = processor_model();
  unsigned eax, ebx, ecx, edx = 0;
  if (cpu.avx512 && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    cpu.amx_bf16 = (edx >> 22 & 1) && (edx >> 24 & 1);
    cpu.amx_int8 = (edx >> 25 & 1) && (edx >> 24 & 1);
  }
  cpu.bf16_is_faster = cpu.amx_bf16 || (cpu.avx512_bf16 && !__builtin_cpu_is("intel"));
  return cpu;
}

}  // namespace

CpuFeatures features_of(const std::function<bool(std::string_view instructions)>& supports) {
  const auto all = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, supports);
  };
  CpuFeatures cpu;
  // As the kernels of each are compiled with.
  cpu.avx2 = all({"avx2", "fma", "f16c", "bmi", "bmi2"});
  cpu.avx512 = cpu.avx2 && all({"avx512f", "avx512bw", "avx512dq", "avx512vl"});
  cpu.avx512_vnni = cpu.avx512 && supports("avx512vnni");
  cpu.avx512_bf16 = cpu.avx512 && supports("avx512bf16");
  return cpu;
}

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

std::string cpu_features_text() {
  const CpuFeatures& cpu = cpu_features();
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (!has) return;
    if (!text.empty()) text += ' ';
    text += name;
  };
  add(cpu.avx2, "AVX2");
  add(cpu.avx512, "AVX-512");
  add(cpu.avx512_vnni, "VNNI");
  add(cpu.avx512_bf16, "BF16");
  add(cpu.amx_int8, "AMX-INT8");
  add(cpu.amx_bf16, "AMX-BF16");
  return text.empty() ? "none of AVX2, AVX-512, AMX" : text;
}

}  // namespace dragoman
