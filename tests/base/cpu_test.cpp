#include "base/cpu.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace dragoman {
namespace {

/// The instructions that the kernels of a set are compiled with.
std::set<std::string> targets_of(const std::string& set) {
  std::ifstream stream(std::string(DRAGOMAN_SOURCES) + "/kernels/isa_" + set + ".h");
  const std::string source{std::istreambuf_iterator<char>(stream), {}};
  std::smatch found;
  EXPECT_TRUE(std::regex_search(source, found,
                                std::regex(R"re(define DRAGOMAN_ISA_OPTIONS[^"]*"([^"]*)")re")));
  const std::string list = found[1];
  const std::regex comma(",");
  return {std::sregex_token_iterator(list.begin(), list.end(), comma, -1), {}};
}

CpuFeatures without(const std::string& masked) {
  return features_of([&](std::string_view instructions) { return instructions != masked; });
}

TEST(CpuFeatures, KernelsAreOfferedWhereTheProcessorHasAllTheirInstructions) {
  EXPECT_TRUE(without("").avx2 && without("").avx512_vnni && without("").avx512_bf16);
  for (const std::string& masked : targets_of("avx2")) EXPECT_FALSE(without(masked).avx2);
  for (const std::string& masked : targets_of("avx512")) EXPECT_FALSE(without(masked).avx512);
  for (const std::string& masked : targets_of("avx512_vnni"))
    EXPECT_FALSE(without(masked).avx512_vnni) << masked;
  for (const std::string& masked : targets_of("avx512_bf16")) {
    const CpuFeatures cpu = without(masked);
    EXPECT_FALSE(cpu.avx512_vnni && cpu.avx512_bf16) << masked;
  }
}

}  // namespace
}  // namespace dragoman
