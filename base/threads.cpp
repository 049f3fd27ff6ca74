#include "base/threads.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/machine.h"

namespace dragoman {

namespace {

bool read_own_affinity(std::size_t bytes, unsigned char* mask) {
  return sched_getaffinity(0, bytes, reinterpret_cast<cpu_set_t*>(mask)) == 0;
}

int count_cores() {
  int cores = cores_of_affinity(read_own_affinity);
  if (cores == 0) cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores_within(cores, cores_of_cgroups());
}

std::atomic<int> core_limit = std::numeric_limits<int>::max();

}  // namespace

int cores_of_affinity(const ReadAffinity& read) {
  // Linux has a mask as long as the machine could have cores, and refuses a shorter one. A
  // cpu_set_t has 1,024 bits.
  constexpr std::size_t kLongest = 1 << 16;
  for (std::size_t bytes = sizeof(cpu_set_t); bytes <= kLongest; bytes *= 2) {
    std::vector<unsigned char> mask(bytes);
    if (!read(bytes, mask.data())) continue;
    int cores = 0;
    for (const unsigned char byte : mask) cores += std::popcount(byte);
    return cores;
  }
  return 0;
}

int cores_within(int cores, std::optional<double> quota) {
  if (quota) cores = std::min(cores, static_cast<int>(std::ceil(*quota)));
  return std::max(1, cores);
}

int available_cores() {
  static const int cores = count_cores();
  return std::min(cores, core_limit.load());
}

void limit_cores(int cores) { core_limit = std::max(1, cores); }

int threads_to_use(std::int64_t flag, int processes) {
  const int cores = available_cores(), most = std::max(64, 8 * cores);
  if (flag < 0 || flag > most)
    throw UsageError("--threads ", flag, ": must be from 0 (all of the ", cores,
                     " cores that this process may use) to ", most);
  return flag > 0 ? static_cast<int>(flag) : std::max(1, cores / processes);
}

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (std::int64_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    const auto extra = std::min<std::int64_t>(threads, count) - 1;
    for (std::int64_t i = 0; i < extra; ++i) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

// ---- ThreadTeam ----

ThreadTeam::~ThreadTeam() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
  }
  begun_.notify_all();
}

void ThreadTeam::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  MutexLock lock(mutex_);
  while (threads_.size() < count)
    threads_.emplace_back(&ThreadTeam::work, this, threads_.size(), round_);
  failures_.assign(count, nullptr);
  task_ = &task;
  count_ = left_ = count;
  ++round_;
  begun_.notify_all();
  while (left_ > 0) ended_.wait(lock);
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

/// `round`: the last one in which the thread has nothing to do.
void ThreadTeam::work(std::size_t number, std::uint64_t round) {
  MutexLock lock(mutex_);
  for (;;) {
    while (!over_ && round_ == round) begun_.wait(lock);
    if (over_) return;
    round = round_;
    if (number >= count_) continue;
    const auto& task = *task_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      task(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[number] = failure;
    if (--left_ == 0) ended_.notify_one();
  }
}

// ---- HelperTeam ----

namespace {

constexpr std::uint64_t kCallUnit = std::uint64_t{1} << 32, kTasksUnit = 1 << 16;

std::uint64_t number_of(std::uint64_t call) { return call / kCallUnit; }
std::uint64_t tasks_of(std::uint64_t call) { return call / kTasksUnit % kTasksUnit; }
std::uint64_t taken_of(std::uint64_t call) { return call % kTasksUnit; }

/// How often a helper looks for a task before it sleeps. This takes some 200 microseconds, which is
/// longer than the time between two products of a step.
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
    // Fewer helpers will do. An exception here would leave those that have begun waiting for ever.
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

// ---- WakeUp ----

WakeUp::WakeUp() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw Error("cannot open an event: ", std::strerror(errno));
}

WakeUp::~WakeUp() { close(descriptor_); }

void WakeUp::wake() const { eventfd_write(descriptor_, 1); }

void WakeUp::clear() const {
  eventfd_t count = 0;
  eventfd_read(descriptor_, &count);
}

}  // namespace dragoman
