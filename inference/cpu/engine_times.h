// Where the engine's time goes, for those who ask.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace dragoman {

enum class EnginePart { Linear, Attention, Normalization, Projection };
constexpr std::array<std::string_view, 4> names_of(EnginePart) {
  return {"linear", "attention", "normalization", "projection"};
}

/// Seconds by EnginePart. Projection is the projection to the vocabulary and the choice of tokens;
/// Linear is all other linear layers.
using EngineTimes = std::array<double, names_of(EnginePart{}).size()>;

/// Adds its lifetime to a part; does nothing without times.
class PartTimer {
 public:
  PartTimer(EngineTimes* times, EnginePart part) : times_(times), part_(part) {
    if (times_ != nullptr) start_ = Clock::now();
  }
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;
  ~PartTimer() {
    if (times_ == nullptr) return;
    const std::chrono::duration<double> spent = Clock::now() - start_;
    (*times_)[static_cast<std::size_t>(part_)] += spent.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  EngineTimes* times_;
  EnginePart part_;
  Clock::time_point start_;
};

}  // namespace dragoman
