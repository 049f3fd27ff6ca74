// Threads that help with tasks of microseconds: they look out for the next one for a while before
// they sleep. A piece that no helper comes for is done by the caller; where one keeps the caller
// waiting, because other programs have its core, there is no help for a while. For longer tasks see
// WorkerTeam.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace dragoman {

class HelperTeam {
 public:
  explicit HelperTeam(std::size_t helpers);
  HelperTeam(const HelperTeam&) = delete;
  HelperTeam& operator=(const HelperTeam&) = delete;
  ~HelperTeam();

  /// The helpers and the caller.
  std::size_t size() const { return threads_.size() + 1; }

  /// Calls task(i) once for every i in [0, count), count < 65,536, on the caller's thread and the
  /// helpers', and waits for all. Tasks throw nothing. One call at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  using Clock = std::chrono::steady_clock;

  /// Of a call of run, in one word, so that a piece can be taken of the call that was seen and of
  /// no other: its number (32 bits), its pieces (16) and how many of them are taken (16).
  using Call = std::uint64_t;

  void help();
  /// Does pieces of the call as long as there are some.
  void do_pieces(Call call);

  std::atomic<Call> call_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> over_ = false;
  const std::function<void(std::size_t)>* task_ = nullptr;
  Clock::time_point alone_until_;
  std::vector<std::jthread> threads_;
};

}  // namespace dragoman
