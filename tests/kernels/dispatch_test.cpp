#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "base/error.h"
#include "kernels/instruction_sets.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

TEST(InstructionSets, ASetIsOfferedIfTheProcessorHasAllItsInstructions) {
  const auto& built = built_instruction_sets();
  EXPECT_EQ(offered_instruction_sets([](std::string_view) { return true; }), built);
  for (const InstructionSet* set : built) {
    std::vector<std::string> needed;
    supports_all(set->instructions, [&](std::string_view name) {
      needed.emplace_back(name);
      return true;
    });
    for (const std::string& masked : needed) {
      const auto offered =
          offered_instruction_sets([&](std::string_view name) { return name != masked; });
      EXPECT_FALSE(std::ranges::count(offered, set)) << set->name << " without " << masked;
    }
  }
}

TEST(InstructionSets, AProcessorWithoutAnySetHasThePortableOne) {
  const auto offered = offered_instruction_sets([](std::string_view) { return false; });
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_EQ(offered.front()->name, "portable");
  EXPECT_NE(offered.front()->kernels, nullptr);
}

// The tables are chosen once per process, so each choice is made in a process of its own.

/// Prints the tables' names or the error, and exits with 0 or 1.
[[noreturn]] void print_choice(const char* name) {
  if (name == nullptr)
    unsetenv("DRAGOMAN_ISA");
  else
    setenv("DRAGOMAN_ISA", name, 1);
  try {
    std::cerr << "training " << batch_kernels().name << ", translation " << inference_kernels().name
              << "\n";
    std::exit(0);
  } catch (const Error& error) {
    std::cerr << error.what() << "\n";
    std::exit(1);
  }
}

/// The line that print_choice() prints if `set` is the best one. A set without kernels of
/// training leaves them to the next one that has some.
std::string tables_from(std::span<const InstructionSet* const> sets) {
  const auto trains = std::ranges::find_if(sets, &InstructionSet::kernels);
  return "training " + std::string((*trains)->kernels->name) + ", translation " +
         std::string(sets.front()->inference->name) + "\n";
}

TEST(KernelDispatchDeathTest, TheTablesOfTheSetThatTheEnvironmentNamesAreTaken) {
  const auto sets = offered_instruction_sets();
  for (std::size_t i = 0; i < sets.size(); ++i)
    EXPECT_EXIT(print_choice(std::string(sets[i]->name).c_str()), testing::ExitedWithCode(0),
                tables_from(std::span(sets).subspan(i)));
}

TEST(KernelDispatchDeathTest, TheBestTablesThatTheProcessorHasAreTaken) {
  auto sets = offered_instruction_sets();
  std::erase_if(sets, [](const InstructionSet* set) { return set->only_if_named; });
  EXPECT_EXIT(print_choice(nullptr), testing::ExitedWithCode(0), tables_from(sets));
  EXPECT_EXIT(print_choice(""), testing::ExitedWithCode(0), tables_from(sets));
}

TEST(KernelDispatchDeathTest, ATableThatIsUnknownOrNotOfThisProcessorIsRefused) {
  EXPECT_EXIT(print_choice("sse9"), testing::ExitedWithCode(1),
              "DRAGOMAN_ISA=sse9: this processor offers .*portable");
}

}  // namespace
}  // namespace dragoman
