#include "base/cpu.h"

#include <fstream>
#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace dragoman {

std::string processor_model(std::istream& cpuinfo) {
  std::map<std::string, std::string> facts;  // of the first processor
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    facts.emplace(line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1),
                  value == std::string::npos ? "" : line.substr(value));
  }
  if (facts.contains("model name")) return facts["model name"];
  if (facts.contains("CPU part"))
    return "ARM " + facts["CPU implementer"] + '/' + facts["CPU part"];
  return "unknown processor";
}

// Each architecture defines cpu_supports(), and features_found() with all but the model's name.

#if defined(__x86_64__)

namespace {

// Clang's builtin does not know the names of the next two.

/// Half floats.
bool has_f16c() {
  unsigned eax, ebx, ecx, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C);
}

/// Dot products of bytes in vectors of 256 bits, without AVX-512.
bool has_avx_vnni() {
  unsigned eax, ebx, ecx, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax >> 4 & 1);
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

/// Whether the system lets this process use the registers of AMX. Linux does so only if it is
/// asked, once for all threads.
bool may_use_amx() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA
  static const bool allowed = syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
  return allowed;
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
  static const Amx amx = find_amx();
  if (instructions == "amx-tile") return (amx.bf16 || amx.int8) && may_use_amx();
  __builtin_cpu_init();
  // GCC's builtin takes only literals, so it is asked for all known sets, once.
  static const std::pair<std::string_view, bool> known[] = {
      {"sse2", __builtin_cpu_supports("sse2")},
      {"avx2", __builtin_cpu_supports("avx2")},
      {"fma", __builtin_cpu_supports("fma")},
      {"f16c", has_f16c()},
      {"bmi", __builtin_cpu_supports("bmi")},
      {"bmi2", __builtin_cpu_supports("bmi2")},
      {"avxvnni", has_avx_vnni() && __builtin_cpu_supports("avx2")},
      {"avx512f", __builtin_cpu_supports("avx512f")},
      {"avx512bw", __builtin_cpu_supports("avx512bw")},
      {"avx512dq", __builtin_cpu_supports("avx512dq")},
      {"avx512vl", __builtin_cpu_supports("avx512vl")},
      {"avx512vnni", __builtin_cpu_supports("avx512vnni")},
      {"avx512bf16", __builtin_cpu_supports("avx512bf16")},
      {"amx-int8", amx.int8},
      {"amx-bf16", amx.bf16}};
  for (const auto& [name, there] : known)
    if (name == instructions) return there;
  throw std::logic_error("unknown on x86-64: " + std::string(instructions));
}

namespace {

CpuFeatures features_found() {
  const bool avx2 = supports_all("avx2,fma,f16c,bmi,bmi2", cpu_supports);
  const bool avx512 = avx2 && supports_all("avx512f,avx512bw,avx512dq,avx512vl", cpu_supports);
  const bool bf16 = avx512 && cpu_supports("avx512bf16");
  const Amx amx = avx512 ? find_amx() : Amx{};
  CpuFeatures cpu;
  cpu.instructions = text_of({{"AVX2", avx2},
                              {"AVX-512", avx512},
                              {"VNNI", avx512 && cpu_supports("avx512vnni")},
                              {"AVX-VNNI", avx2 && cpu_supports("avxvnni")},
                              {"BF16", bf16},
                              {"AMX-INT8", amx.int8},
                              {"AMX-BF16", amx.bf16}});
  cpu.amx_bf16 = amx.bf16;
  cpu.bf16_is_faster = amx.bf16 || (bf16 && !__builtin_cpu_is("intel"));
  return cpu;
}

}  // namespace

#elif defined(__aarch64__)

bool cpu_supports(std::string_view instructions) {
  const unsigned long has = getauxval(AT_HWCAP), has_too = getauxval(AT_HWCAP2);
  // The extensions of ARMv8.1 and ARMv8.2 that a compiler may use.
  constexpr unsigned long kArmv82 = HWCAP_ASIMD | HWCAP_CRC32 | HWCAP_ATOMICS | HWCAP_ASIMDRDM;
  const std::pair<std::string_view, bool> known[] = {{"simd", has & HWCAP_ASIMD},
                                                     {"arch=armv8.2-a", (has & kArmv82) == kArmv82},
                                                     {"dotprod", has & HWCAP_ASIMDDP},
                                                     {"i8mm", has_too & HWCAP2_I8MM},
                                                     {"bf16", has_too & HWCAP2_BF16}};
  for (const auto& [name, there] : known)
    if (name == instructions) return there;
  throw std::logic_error("unknown on 64-bit ARM: " + std::string(instructions));
}

namespace {

CpuFeatures features_found() {
  CpuFeatures cpu;
  cpu.instructions = cpu_supports("simd") ? "NEON" : "no NEON";
  if (cpu_supports("dotprod")) cpu.instructions += " DotProd";
  if (cpu_supports("i8mm")) cpu.instructions += " I8MM";
  if (cpu_supports("bf16")) cpu.instructions += " BF16";
  return cpu;
}

}  // namespace

#else

bool cpu_supports(std::string_view instructions) {
  throw std::logic_error("unknown on this processor: " + std::string(instructions));
}

namespace {

CpuFeatures features_found() {
  CpuFeatures cpu;
  cpu.instructions = "no vector instructions that Dragoman knows";
  return cpu;
}

}  // namespace

#endif

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = [] {
    CpuFeatures found = features_found();
    std::ifstream cpuinfo("/proc/cpuinfo");
    found.model = processor_model(cpuinfo);
    return found;
  }();
  return features;
}

bool supports_all(std::string_view options,
                  const std::function<bool(std::string_view instructions)>& supports) {
  while (!options.empty()) {
    const std::size_t end = options.find_first_of(",+");
    if (end != 0 && !supports(options.substr(0, end))) return false;
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
  }
  return true;
}

}  // namespace dragoman
