// The time that each kind of work of the engine takes, for benchmarks.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace dragoman {

enum class EngineWork { Linear, Attention, Normalization, Projection };
constexpr std::array<std::string_view, 4> names_of(EngineWork) {
  return {"linear", "attention", "normalization", "projection"};
}

/// Seconds by EngineWork. Projection is the projection to the vocabulary and the choice of tokens;
/// Linear is all other linear layers.
using EngineTimes = std::array<double, names_of(EngineWork{}).size()>;

/// Adds its lifetime to the time of a kind of work; does nothing without times.
class WorkTimer {
 public:
  WorkTimer(EngineTimes* times, EngineWork work) : times_(times), work_(work) {
    if (times_ != nullptr) start_ = Clock::now();
  }
  WorkTimer(const WorkTimer&) = delete;
  WorkTimer& operator=(const WorkTimer&) = delete;
  ~WorkTimer() {
    if (times_ == nullptr) return;
    const std::chrono::duration<double> spent = Clock::now() - start_;
    (*times_)[static_cast<std::size_t>(work_)] += spent.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  EngineTimes* times_;
  EngineWork work_;
  Clock::time_point start_;
};

}  // namespace dragoman
