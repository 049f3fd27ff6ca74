#include "inference/line_order.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace dragoman {
namespace {

TEST(LineOrder, LinesLeaveInTheirOrderAndNoneBeforeItsTime) {
  RandomStream random(5);
  for (int trial = 0; trial < 200; ++trial) {
    LineOrder order;
    std::vector<std::size_t> left;       // sentences of each line
    std::vector<std::size_t> sentences;  // the line of each
    for (std::uint64_t line = random.below(8); line > 0; --line) {
      left.push_back(random.below(4));
      order.add(left.back());
      sentences.insert(sentences.end(), left.back(), left.size() - 1);
    }
    random.shuffle(sentences);
    std::size_t next = 0;
    const auto take_all = [&] {
      while (order.ready()) {
        EXPECT_EQ(left.at(next), 0u);
        EXPECT_EQ(order.take(), next++);
        EXPECT_EQ(order.left(), left.size() - next);
      }
      EXPECT_TRUE(next == left.size() || left[next] > 0);
    };
    take_all();
    for (const std::size_t line : sentences) {
      --left[line];
      order.finish(line);
      take_all();
    }
    EXPECT_EQ(order.left(), 0u);
  }
}

}  // namespace
}  // namespace dragoman
