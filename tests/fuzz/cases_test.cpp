// The cases that the fuzzers have found, read once more: whatever they are, each target of
// tests/fuzz must come to its end. tests/fuzz/cases/TARGET has a target's cases; scripts/fuzz
// --keep writes them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"

#define FUZZ_TARGET(NAME) extern "C" int read_##NAME(const std::uint8_t* bytes, std::size_t size);
#include "fuzz_targets.inc"
#undef FUZZ_TARGET

namespace dragoman {
namespace {

struct Target {
  std::string name;
  int (*read)(const std::uint8_t* bytes, std::size_t size);
};

class FuzzCases : public testing::TestWithParam<Target> {};

TEST_P(FuzzCases, EveryCaseIsReadToTheEnd) {
  const std::filesystem::path folder = std::filesystem::path(FUZZ_CASES) / GetParam().name;
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().filename());
    const std::string text = read_file(entry.path());
    // In memory of just its size, so that AddressSanitizer sees a byte read after it.
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    EXPECT_EQ(GetParam().read(bytes.data(), bytes.size()), 0);
    ++cases;
  }
  EXPECT_GT(cases, 0) << folder;
}

const std::vector<Target> kTargets = {
#define FUZZ_TARGET(NAME) {#NAME, read_##NAME},
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
};

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCases, testing::ValuesIn(kTargets),
                         [](const auto& target) { return target.param.name; });

}  // namespace
}  // namespace dragoman
