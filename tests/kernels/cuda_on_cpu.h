// CUDA C++ on the CPU, so that tests run the sources of kernels/cuda without a GPU: include this
// header, then a source. Blocks run one after the other, in random order. The threads of a block
// are fibers, which take turns on one thread of the host, in random order: each runs until it waits
// for others, and some warps are late. So a kernel that relies on an order of its threads gives
// other results. If threads wait for others that do not come, run() throws.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __launch_bounds__(threads)
#define __shared__ static thread_local

namespace dragoman::cuda_on_cpu {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// What a thread knows of itself.
inline thread_local Index thread, block, size_of_block;

/// The threads of the block that runs.
class Fibers {
 public:
  using Kernel = std::function<void()>;

  void run(unsigned threads, const Kernel& kernel) {
    kernel_ = &kernel;
    while (fibers_.size() < threads) fibers_.push_back(std::make_unique<Fiber>());
    order_.resize(threads);
    std::iota(order_.begin(), order_.end(), 0U);
    for (const unsigned t : order_) fibers_[t]->state = State::Ready;
    do {
      shuffle(order_);
      const unsigned late = threads > kLanes ? next_random() : 0;  // a bit for each warp
      for (const unsigned t : order_)
        if (fibers_[t]->state == State::Ready && (late >> t / kLanes & 1) == 0) resume(t);
    } while (let_go());
  }

  /// The number of lane `lane` of this thread's warp. The lanes' numbers are exchanged in turns in
  /// two places, so a fast lane overwrites none that a slow one has still to read.
  float of_lane(float mine, unsigned lane) {
    Fiber& self = *self_;
    const unsigned place = self.exchanges++ % 2;
    self.exchanged[place] = mine;
    wait(State::WaitsForWarp);
    return fibers_[running_ / kLanes * kLanes + lane]->exchanged[place];
  }
  void wait_for_block() { wait(State::WaitsForBlock); }
  unsigned lane() const { return running_ % kLanes; }

  void shuffle(std::vector<unsigned>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[std::uint64_t{next_random()} * i >> 32]);
  }

 private:
  static constexpr unsigned kLanes = 32;
  static constexpr std::size_t kStack = 64 << 10;

  using Place = void* [5];
  enum class State { Ready, WaitsForWarp, WaitsForBlock, Ended };

  struct Fiber {
    State state = State::Ready;
    bool has_begun = false;
    unsigned exchanges = 0;
    float exchanged[2] = {};
    std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStack);
    // ucontext.h begins a fiber. The compiler's own setjmp then changes fibers: it keeps three
    // addresses, while that of the C library keeps all registers.
    ucontext_t beginning = {};
    Place place = {};
  };

  static void live();  // of a fiber

  /// Not inlined, because the compiler must know that the other function may continue after it.
  [[gnu::noinline]] static void go_to(Place& place) { __builtin_longjmp(place, 1); }

  [[gnu::noinline]] void resume(unsigned number) {
    running_ = number;
    self_ = fibers_[number].get();
    thread = {number, 0, 0};
    if (__builtin_setjmp(host_) != 0) return;
    Fiber& fiber = *self_;
    if (fiber.has_begun) go_to(fiber.place);
    fiber.has_begun = true;
    getcontext(&fiber.beginning);
    fiber.beginning.uc_stack.ss_sp = fiber.stack.get();
    fiber.beginning.uc_stack.ss_size = kStack;
    makecontext(&fiber.beginning, &live, 0);
    setcontext(&fiber.beginning);
  }

  [[gnu::noinline]] void wait(State state) {
    self_->state = state;
    if (__builtin_setjmp(self_->place) == 0) go_to(host_);
  }

  /// Whether all threads from `begin` to `end` wait for each other; then they are ready.
  bool have_met(State state, unsigned begin, unsigned end) {
    for (unsigned t = begin; t < end; ++t)
      if (t >= order_.size() || fibers_[t]->state != state) return false;
    for (unsigned t = begin; t < end; ++t) fibers_[t]->state = State::Ready;
    return true;
  }

  /// False if all threads have ended.
  bool let_go() {
    const auto threads = static_cast<unsigned>(order_.size());
    bool any = have_met(State::WaitsForBlock, 0, threads);
    for (unsigned warp = 0; warp < threads; warp += kLanes)
      any = have_met(State::WaitsForWarp, warp, warp + kLanes) || any;
    const auto are = [&](State state, auto&& quantifier) {
      return quantifier(order_, [&](unsigned t) { return fibers_[t]->state == state; });
    };
    if (any || are(State::Ready, std::ranges::any_of)) return true;
    if (are(State::Ended, std::ranges::all_of)) return false;
    for (const unsigned t : order_) fibers_[t] = std::make_unique<Fiber>();
    throw std::logic_error("threads of a block wait for others that do not come");
  }

  /// Xorshift (Marsaglia 2003).
  unsigned next_random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 17;
    return random_ ^= random_ << 5;
  }

  const Kernel* kernel_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // of the largest block that has run
  std::vector<unsigned> order_;
  unsigned running_ = 0;
  Fiber* self_ = nullptr;  // the fiber that runs
  Place host_ = {};
  std::uint32_t random_ = 1;
};

/// Those of this thread of the host, once it has run a kernel.
inline thread_local Fibers* fibers = nullptr;

inline void Fibers::live() {
  for (;;) {
    (*fibers->kernel_)();
    fibers->wait(State::Ended);
  }
}

/// Calls `kernel` once for each thread of the blocks.
inline void run(unsigned blocks, unsigned threads_of_block, const Fibers::Kernel& kernel) {
  thread_local Fibers own;
  fibers = &own;
  std::vector<unsigned> order(blocks);
  std::iota(order.begin(), order.end(), 0U);
  fibers->shuffle(order);
  size_of_block = {threads_of_block, 1, 1};
  for (const unsigned number : order) {
    block = {number, 0, 0};
    fibers->run(threads_of_block, kernel);
  }
}

/// As the instruction cvt.rn.bf16x2.f32 rounds.
inline unsigned rounded_pair(float low, float high) {
  const auto rounded = [](float x) -> unsigned {
    if (std::isnan(x)) return 0x7FFF;
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  };
  return rounded(low) | rounded(high) << 16;
}

}  // namespace dragoman::cuda_on_cpu

#define threadIdx ::dragoman::cuda_on_cpu::thread
#define blockIdx ::dragoman::cuda_on_cpu::block
#define blockDim ::dragoman::cuda_on_cpu::size_of_block

inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __shfl_xor_sync(unsigned, float x, int lanes) {
  auto& fibers = *dragoman::cuda_on_cpu::fibers;
  return fibers.of_lane(x, fibers.lane() ^ static_cast<unsigned>(lanes));
}
inline void __syncthreads() { dragoman::cuda_on_cpu::fibers->wait_for_block(); }
