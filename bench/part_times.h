// The time of each part of a training step, from LibTorch's record functions. The time of a thread
// counts for the outermost scope with one of our names.
#pragma once

#include <array>
#include <string_view>

namespace dragoman {

enum class Part { Linear, Attention, NormDropout, Loss, Embedding, Other };
constexpr std::array<std::string_view, 6> names_of(Part) {
  return {"linear_layers", "attention", "normalisation_and_dropout", "loss", "embedding", "other"};
}

/// Seconds by part, summed over threads, for the scopes that began and ended during the object's
/// life. Only one object may exist at a time.
class PartTimes {
 public:
  PartTimes();
  PartTimes(const PartTimes&) = delete;
  PartTimes& operator=(const PartTimes&) = delete;
  ~PartTimes();

  std::array<double, 6> seconds() const;

 private:
  unsigned long handle_;
};

}  // namespace dragoman
