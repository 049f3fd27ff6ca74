#include "model/side_by_side.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace dragoman {
namespace {

/// LibTorch's threads in a thread that begins now.
int threads_of_a_new_thread() {
  int threads = 0;
  std::thread([&] { threads = at::get_num_threads(); }).join();
  return threads;
}

class SideBySide : public testing::Test {
 protected:
  SideBySide() { at::set_num_threads(3); }
  ~SideBySide() override { at::set_num_threads(1); }

  ThreadTeam team_;
};

TEST_F(SideBySide, EachCallHasAFractionOfTheThreadsAndAtLeastOne) {
  for (const std::size_t count : {1U, 2U, 3U, 5U}) {
    std::vector<int> threads(count);
    run_side_by_side(team_, count, [&](std::size_t i) { threads[i] = at::get_num_threads(); });
    EXPECT_EQ(threads, std::vector<int>(count, count == 1 ? 3 : 1));
    EXPECT_EQ(at::get_num_threads(), 3);
    EXPECT_EQ(threads_of_a_new_thread(), 3);
  }
}

TEST_F(SideBySide, AnErrorOfACallLeavesTheNumberOfThreadsAsItWas) {
  EXPECT_THROW(
      run_side_by_side(team_, 3, [](std::size_t) { throw std::runtime_error("out of memory"); }),
      std::runtime_error);
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(threads_of_a_new_thread(), 3);
}

}  // namespace
}  // namespace dragoman
