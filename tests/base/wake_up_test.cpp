#include "base/wake_up.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/line_stream.h"
#include "tests/base/pipe.h"

namespace dragoman {
namespace {

using std::chrono::seconds;

TEST(WakeUp, AWakeUpEndsTheWaitForALine) {
  Pipe pipe;
  LineReader reader(pipe.out(), "input");
  const WakeUp wake_up;
  const std::jthread waking([&] { wake_up.wake(); });
  EXPECT_FALSE(reader.receive(std::chrono::milliseconds{-1}, wake_up.descriptor()));
  EXPECT_FALSE(reader.receive(std::chrono::milliseconds{-1}, wake_up.descriptor()))
      << "until it is cleared";
  pipe.send("one\n");
  EXPECT_TRUE(reader.receive(std::chrono::milliseconds{-1}, wake_up.descriptor()))
      << "what has come is taken in, too";
  wake_up.clear();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(reader.receive(std::chrono::milliseconds{20}, wake_up.descriptor()));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{19});
}

}  // namespace
}  // namespace dragoman
