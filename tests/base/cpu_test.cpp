#include "base/cpu.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace dragoman {
namespace {

TEST(Cpu, AllOptionsAreSupportedIfEachIsThere) {
  for (const std::string options : {"avx2,fma,bmi", "+avx2+fma+bmi"}) {
    std::vector<std::string> asked;
    EXPECT_TRUE(supports_all(options, [&](std::string_view name) {
      asked.emplace_back(name);
      return true;
    }));
    EXPECT_EQ(asked, (std::vector<std::string>{"avx2", "fma", "bmi"}));
    for (const std::string& masked : asked)
      EXPECT_FALSE(supports_all(options, [&](std::string_view name) { return name != masked; }));
  }
}

TEST(Cpu, NoOptionsAreAlwaysSupported) {
  EXPECT_TRUE(supports_all("", [](std::string_view) { return false; }));
}

TEST(Cpu, UnknownInstructionsAreRefused) { EXPECT_THROW(cpu_supports("sse9"), std::logic_error); }

TEST(Cpu, TheModelIsNamedByTheSystem) {
  const auto model = [](const std::string& text) {
    std::istringstream cpuinfo(text);
    return processor_model(cpuinfo);
  };
  EXPECT_EQ(model("processor\t: 0\nmodel name\t: A: B\n\nprocessor\t: 1\nmodel name\t: C\n"),
            "A: B");
  EXPECT_EQ(model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"),
            "ARM 0x41/0xd0c");
  EXPECT_EQ(model("processor\t: 0\nmodel name\t:\n"), "");
  EXPECT_EQ(model(""), "unknown processor");
}

/// The words of the line of /proc/cpuinfo in which the system lists the processor's features. (An
/// emulator of ARM may show the file of an x86-64 processor, without that line.)
std::set<std::string> features_of_the_system() {
#if defined(__x86_64__)
  const std::string key = "flags";
#else
  const std::string key = "Features";
#endif
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) {
      std::istringstream words(line.substr(line.find(':') + 1));
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

TEST(Cpu, TheFeaturesAreThoseThatTheSystemLists) {
  const std::set<std::string> listed = features_of_the_system();
#if defined(__x86_64__)
  const std::map<std::string, std::string> names = {{"sse2", "sse2"},
                                                    {"avx2", "avx2"},
                                                    {"fma", "fma"},
                                                    {"f16c", "f16c"},
                                                    {"bmi", "bmi1"},
                                                    {"bmi2", "bmi2"},
                                                    {"avxvnni", "avx_vnni"},
                                                    {"avx512f", "avx512f"},
                                                    {"avx512bw", "avx512bw"},
                                                    {"avx512dq", "avx512dq"},
                                                    {"avx512vl", "avx512vl"},
                                                    {"avx512vnni", "avx512_vnni"},
                                                    {"avx512bf16", "avx512_bf16"},
                                                    {"amx-tile", "amx_tile"},
                                                    {"amx-int8", "amx_int8"},
                                                    {"amx-bf16", "amx_bf16"}};
#elif defined(__aarch64__)
  const std::map<std::string, std::string> names = {{"simd", "asimd"},
                                                    {"arch=armv8.2-a", "asimdrdm"},
                                                    {"dotprod", "asimddp"},
                                                    {"i8mm", "i8mm"},
                                                    {"bf16", "bf16"}};
#else
  const std::map<std::string, std::string> names;
#endif
  if (listed.empty()) GTEST_SKIP() << "the system lists no features";
  for (const auto& [name, of_the_system] : names)
    EXPECT_EQ(cpu_supports(name), listed.contains(of_the_system)) << name;
}

}  // namespace
}  // namespace dragoman
