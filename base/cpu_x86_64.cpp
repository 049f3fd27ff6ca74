#if defined(__x86_64__)

#include <cpuid.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/cpu_architecture.h"

namespace dragoman {

namespace {

/// Half floats; clang's builtin does not know their name.
bool has_f16c() {
  unsigned eax, ebx, ecx, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

struct Amx {
  bool bf16 = false, int8 = false;
};

Amx find_amx() {
  unsigned eax, ebx, ecx, edx = 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return {};
  const bool tiles = edx >> 24 & 1;
  return {.bf16 = tiles && (edx >> 22 & 1), .int8 = tiles && (edx >> 25 & 1)};
}

std::string text_of(std::initializer_list<std::pair<const char*, bool>> features) {
  std::string text;
  for (const auto& [name, there] : features) {
    if (!there) continue;
    if (!text.empty()) text += ' ';
    text += name;
  }
  return text.empty() ? "none of AVX2, AVX-512, AMX" : text;
}

}  // namespace

bool cpu_supports(std::string_view instructions) {
  __builtin_cpu_init();
  // GCC's builtin takes literals alone, so all known sets are asked for.
  const std::pair<std::string_view, bool> known[] = {
      {"sse2", __builtin_cpu_supports("sse2")},
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
  throw std::logic_error("not known of x86-64: " + std::string(instructions));
}

CpuFeatures find_cpu_features() {
  const bool avx2 = supports_all("avx2,fma,f16c,bmi,bmi2", cpu_supports);
  const bool avx512 = avx2 && supports_all("avx512f,avx512bw,avx512dq,avx512vl", cpu_supports);
  const bool bf16 = avx512 && cpu_supports("avx512bf16");
  const Amx amx = avx512 ? find_amx() : Amx{};
  CpuFeatures cpu;
  cpu.instructions = text_of({{"AVX2", avx2},
                              {"AVX-512", avx512},
                              {"VNNI", avx512 && cpu_supports("avx512vnni")},
                              {"BF16", bf16},
                              {"AMX-INT8", amx.int8},
                              {"AMX-BF16", amx.bf16}});
  cpu.amx_bf16 = amx.bf16;
  cpu.bf16_is_faster = amx.bf16 || (bf16 && !__builtin_cpu_is("intel"));
  return cpu;
}

}  // namespace dragoman

#endif
