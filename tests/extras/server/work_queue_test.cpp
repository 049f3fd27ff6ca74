#include "extras/server/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace dragoman {
namespace {

/// A queue whose thread is held by a first job until it is let go, or stopped.
struct HeldQueue {
  explicit HeldQueue(std::size_t most_waiting) : queue(most_waiting) {
    queue.post([this](const std::stop_token& stopping) {
      begun.set_value();
      while (is_held && !stopping.stop_requested())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    begun.get_future().wait();
  }
  WorkQueue::Job noting(const std::string& name) {
    return [this, name](const std::stop_token& stopping) {
      noted.push_back(name + (stopping.stop_requested() ? " stops" : ""));
    };
  }

  std::promise<void> begun;
  std::atomic<bool> is_held = true;
  std::vector<std::string> noted;
  WorkQueue queue;
};

TEST(WorkQueue, JobsAreDoneInOrder) {
  HeldQueue held(2);
  held.queue.post(held.noting("first"));
  std::promise<void> done;
  held.queue.post([&](const auto&) {
    held.noted.emplace_back("second");
    done.set_value();
  });
  EXPECT_TRUE(held.noted.empty()) << "one job at a time";
  held.is_held = false;
  done.get_future().wait();
  EXPECT_EQ(held.noted, (std::vector<std::string>{"first", "second"}));
}

TEST(WorkQueue, AFullQueueRefusesJobsUntilClientsAreGone) {
  HeldQueue held(2);
  std::stop_source gone;
  EXPECT_TRUE(held.queue.post(held.noting("first")));
  EXPECT_TRUE(held.queue.post(held.noting("second"), gone.get_token()));
  EXPECT_FALSE(held.queue.post(held.noting("third")));
  gone.request_stop();
  EXPECT_TRUE(held.queue.post(held.noting("fourth")));
  EXPECT_EQ(held.noted, std::vector<std::string>{"second"}) << "while another job is done";
}

TEST(WorkQueue, AStopReachesTheJobsThatWaitAndLaterOnes) {
  HeldQueue held(2);
  held.queue.post(held.noting("first"));
  held.queue.stop();
  EXPECT_TRUE(held.queue.post(held.noting("second")));
  EXPECT_EQ(held.noted, (std::vector<std::string>{"first stops", "second stops"}));
}

}  // namespace
}  // namespace dragoman
