#include "base/helper_team.h"

#include <exception>

namespace dragoman {

namespace {

constexpr std::uint64_t kCallUnit = std::uint64_t{1} << 32, kTasksUnit = 1 << 16;

std::uint64_t number_of(std::uint64_t call) { return call / kCallUnit; }
std::uint64_t tasks_of(std::uint64_t call) { return call / kTasksUnit % kTasksUnit; }
std::uint64_t taken_of(std::uint64_t call) { return call % kTasksUnit; }

/// How often a helper looks for a task before it sleeps: for some 200 microseconds, which is longer
/// than the time between two products of a step.
constexpr int kLooks = 10'000;

/// A caller that helpers keep waiting longer than kPatience works alone for kAlone.
constexpr std::chrono::milliseconds kPatience{2}, kAlone{50};

void rest_a_moment() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

HelperTeam::HelperTeam(std::size_t helpers) {
  try {
    for (std::size_t i = 0; i < helpers; ++i) threads_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
    // Fewer helpers will do. An exception here would leave the started ones waiting for ever.
  }
}

HelperTeam::~HelperTeam() {
  over_ = true;
  call_ += kCallUnit;
  call_.notify_all();
}

void HelperTeam::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (alone_until_ != Clock::time_point() && Clock::now() < alone_until_) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  task_ = &task;
  done_ = 0;
  const Call call = (number_of(call_) + 1) * kCallUnit + count * kTasksUnit;
  call_ = call;
  call_.notify_all();
  do_tasks(call);
  if (done_ == count) return;
  const auto patient_until = Clock::now() + kPatience;
  for (int look = 1; done_ != count; ++look) {
    rest_a_moment();
    if (look % 1'000 != 0) continue;
    std::this_thread::yield();  // to a helper that waits for this very core
    if (Clock::now() > patient_until) alone_until_ = Clock::now() + kAlone;
  }
}

void HelperTeam::do_tasks(Call call) {
  const std::uint64_t number = number_of(call);
  while (number_of(call) == number && taken_of(call) < tasks_of(call)) {
    if (!call_.compare_exchange_weak(call, call + 1)) continue;  // `call` has the current value now
    (*task_)(taken_of(call));
    ++done_;
    call = call_;
  }
}

void HelperTeam::help() {
  Call seen = 0;
  for (;;) {
    Call now = call_;
    for (int look = 0; number_of(now) == number_of(seen) && look < kLooks; ++look) {
      rest_a_moment();
      now = call_;
    }
    if (over_) return;
    if (number_of(now) == number_of(seen)) {
      call_.wait(now);
      continue;
    }
    seen = now;
    do_tasks(now);
  }
}

}  // namespace dragoman
