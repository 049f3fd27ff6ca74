// How the time of a training step is shared among its parts, from LibTorch's record functions: what
// runs on a thread counts for the outermost scope that has a name of ours.
#pragma once

#include <array>
#include <string_view>

namespace dragoman {

enum class Part { Linear, Attention, NormDropout, Loss, Embedding, Other };
constexpr std::array<std::string_view, 6> names_of(Part) {
  return {"linear_layers", "attention", "normalisation_and_dropout", "loss", "embedding", "other"};
}

/// Seconds by part, summed over threads, of the scopes that began and ended while the object lived.
/// One at a time.
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
