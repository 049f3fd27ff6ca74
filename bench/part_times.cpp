#include "bench/part_times.h"

#include <ATen/record_function.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace dragoman {

namespace {

std::array<std::atomic<double>, 6> all_seconds;
thread_local int depth = 0;

/// Words in the names of scopes. Our own functions come before the operations that they consist of.
Part part_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Part>, 16> kWords = {{
      {"ProjectedCrossEntropy", Part::Loss},
      {"Attention", Part::Attention},
      {"Embed", Part::Embedding},
      {"Dropout", Part::NormDropout},
      {"LayerNorm", Part::NormDropout},
      {"AddNormFunction", Part::NormDropout},
      {"Linear", Part::Linear},
      {"linear", Part::Linear},
      {"FeedForward", Part::Linear},
      {"addmm", Part::Linear},
      {"aten::mm", Part::Linear},
      {"MmBackward", Part::Linear},
      {"TBackward", Part::Linear},
      {"aten::t", Part::Linear},
      {"AccumulateGrad", Part::Linear},
      {"IndexSelect", Part::Embedding},
  }};
  for (const auto& [word, part] : kWords)
    if (name.find(word) != std::string_view::npos) return part;
  return Part::Other;
}

struct Scope : at::ObserverContext {
  Part part;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction& function) {
  if (depth++ > 0) return nullptr;
  auto scope = std::make_unique<Scope>();
  scope->part = part_of(function.name());
  return scope;
}

void leave(const at::RecordFunction&, at::ObserverContext* context) {
  --depth;
  if (context == nullptr) return;
  const auto* scope = static_cast<const Scope*>(context);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - scope->start;
  all_seconds[static_cast<std::size_t>(scope->part)] += spent.count();
}

}  // namespace

PartTimes::PartTimes() {
  for (auto& seconds : all_seconds) seconds = 0;
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(enter, leave));
}

PartTimes::~PartTimes() { at::removeCallback(handle_); }

std::array<double, 6> PartTimes::seconds() const {
  std::array<double, 6> result{};
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = all_seconds[i];
  return result;
}

}  // namespace dragoman
